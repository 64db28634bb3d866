//! Many connections on one epoll: each has sent the same request, and what comes is counted and timed.

use std::io::{ErrorKind, IoSliceMut, Write};
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use memchr::memmem::Finder;
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use nix::cmsg_space;
use nix::errno::Errno;
use nix::sys::socket::{recvmsg, setsockopt, sockopt, ControlMessageOwned, MsgFlags};
use nix::sys::time::TimeSpec;

use crate::wire::{connect, PATIENCE};
use crate::Outcome;

/// Connections that wait for their first answer at one time: fewer than a listener's backlog.
const OPENING: usize = 256;

/// One connection, and what came over it since the last [`Crowd::forget`].
pub struct Peer {
    pub stream: TcpStream,
    /// Messages that had the needle in them.
    pub messages: usize,
    pub bytes: usize,
    /// When the kernel had the newest bytes, in nanoseconds of Unix time.
    pub last_ns: u128,
    /// An unfinished line's end, since a needle may be cut in two.
    carry: Vec<u8>,
}

pub struct Crowd {
    poll: Poll,
    events: Events,
    chunk: Vec<u8>,
    control: Vec<u8>,
    needle: Finder<'static>,
    pub peers: Vec<Peer>,
}

impl Crowd {
    /// Opens `count` connections, sends `request` on each and, where there is a `wanted`, waits until each has got it.
    pub fn open(
        to: SocketAddr,
        count: usize,
        request: &[u8],
        wanted: Option<&str>,
    ) -> Outcome<Self> {
        let mut crowd = Self {
            poll: Poll::new()?,
            events: Events::with_capacity(1024),
            chunk: vec![0; 65_536],
            control: cmsg_space!(TimeSpec),
            needle: Finder::new(wanted.unwrap_or("\n").as_bytes()).into_owned(),
            peers: Vec::with_capacity(count),
        };
        while crowd.peers.len() < count {
            let first = crowd.peers.len();
            for _ in first..count.min(first + OPENING) {
                crowd.add(to, request)?;
            }
            if wanted.is_some() {
                let got = crowd.run_until(PATIENCE, |crowd| {
                    crowd.peers[first..].iter().all(|peer| peer.messages > 0)
                })?;
                if !got {
                    return Err(
                        format!("of {count} connections some after {first} got no answer").into()
                    );
                }
            }
        }
        Ok(crowd)
    }

    fn add(&mut self, to: SocketAddr, request: &[u8]) -> Outcome<()> {
        let mut stream = connect(to)?;
        stream.write_all(request)?;
        stream.set_nonblocking(true)?;
        setsockopt(&stream, sockopt::ReceiveTimestampns, &true)?;
        let mut stream = TcpStream::from_std(stream);
        self.poll.registry().register(&mut stream, Token(self.peers.len()), Interest::READABLE)?;
        self.peers.push(Peer { stream, messages: 0, bytes: 0, last_ns: 0, carry: Vec::new() });
        Ok(())
    }

    /// Counts anew, and other messages.
    pub fn forget(&mut self, needle: &str) {
        self.needle = Finder::new(needle.as_bytes()).into_owned();
        for peer in &mut self.peers {
            (peer.messages, peer.bytes, peer.last_ns) = (0, 0, 0);
            peer.carry.clear();
        }
    }

    /// Reads until `done`, which is looked at after every batch of the poll; false if that took too long.
    pub fn run_until(
        &mut self,
        limit: Duration,
        mut done: impl FnMut(&Self) -> bool,
    ) -> Outcome<bool> {
        let begun = Instant::now();
        while !done(self) {
            if begun.elapsed() > limit {
                return Ok(false);
            }
            self.turn(Duration::from_millis(50))?;
        }
        Ok(true)
    }

    /// Reads until nothing has come for `quiet`.
    pub fn run_quiet(&mut self, quiet: Duration, limit: Duration) -> Outcome<bool> {
        let (begun, mut last) = (Instant::now(), Instant::now());
        while last.elapsed() < quiet {
            if begun.elapsed() > limit {
                return Ok(false);
            }
            if self.turn(Duration::from_millis(50))? > 0 {
                last = Instant::now();
            }
        }
        Ok(true)
    }

    /// One wait for readiness, and one read of whatever is ready; how many were.
    pub fn turn(&mut self, wait: Duration) -> Outcome<usize> {
        match self.poll.poll(&mut self.events, Some(wait)) {
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(0),
            other => other?,
        }
        for event in &self.events {
            let peer = &mut self.peers[event.token().0];
            while peer.read(&mut self.chunk, &mut self.control, &self.needle)? {}
        }
        Ok(self.events.iter().count())
    }
}

impl Peer {
    /// Reads once; whether there may be more.
    fn read(&mut self, chunk: &mut [u8], control: &mut [u8], needle: &Finder<'_>) -> Outcome<bool> {
        let room = chunk.len();
        let mut parts = [IoSliceMut::new(chunk)];
        let got = match recvmsg::<()>(
            self.stream.as_raw_fd(),
            &mut parts,
            Some(control),
            MsgFlags::empty(),
        ) {
            Ok(got) => got,
            Err(Errno::EAGAIN | Errno::EINTR) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        let read = got.bytes;
        for message in got.cmsgs()? {
            if let ControlMessageOwned::ScmTimestampns(at) = message {
                self.last_ns = at.tv_sec() as u128 * 1_000_000_000 + at.tv_nsec() as u128;
            }
        }
        if read == 0 {
            return Err("the server closed a connection".into());
        }
        self.bytes += read;
        self.count(&chunk[..read], needle);
        Ok(read == room)
    }

    fn count(&mut self, fresh: &[u8], needle: &Finder<'_>) {
        let whole_line = fresh.ends_with(b"\n");
        if self.carry.is_empty() && whole_line {
            self.messages += needle.find_iter(fresh).count();
            return;
        }
        self.carry.extend_from_slice(fresh);
        self.messages += needle.find_iter(&self.carry).count();
        // Less than a needle is kept, so nothing is counted twice.
        let kept = if whole_line { 0 } else { self.carry.len().min(needle.needle().len() - 1) };
        self.carry.drain(..self.carry.len() - kept);
    }
}
