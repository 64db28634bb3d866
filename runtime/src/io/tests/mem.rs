//! The in-memory link keeps the promises of the TCP one.

use std::io::ErrorKind;
use std::pin::pin;
use std::task::{Context, Poll};

use proptest::prelude::*;

use super::buffer;
use crate::engine::tests::{bells, now, poll_once};
use crate::io::mem::{MemLink, MemPeer, Moment, pair};
use crate::io::{How, Link, Peer};

/// An interrupted patient read gives its buffer back and loses nothing; an early interruption is forgotten.
#[test]
fn patient_reads_are_interrupted_without_loss() {
    let (mut link, peer) = pair(8);
    let handle = link.shutdown_handle();
    handle.end(How::Interrupt);
    {
        let mut read = pin!(link.read_patiently(buffer()));
        let (bell, waker) = bells();
        assert!(read.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        handle.end(How::Interrupt);
        assert_eq!(bell.count(), 1);
        assert_eq!(now(read).0.map_err(|e| e.kind()), Err(ErrorKind::Interrupted));
    }
    assert_eq!(peer.try_write(b"x").ok(), Some(1));
    handle.end(How::Interrupt);
    assert_eq!(now(link.read_patiently(buffer())).1, b"x");
}

/// In memory: reads append, writes wait for room, ends are ends; the same promises as over TCP.
#[test]
fn reads_and_writes() {
    let (mut link, peer) = pair(8);
    assert_eq!(peer.try_write(b"0123456789").ok(), Some(8));
    assert_eq!(peer.try_write(b"89").ok(), Some(0), "no room");
    let (n, buf) = now(link.read(buffer()));
    assert_eq!((n.ok(), &buf[..]), (Some(8), &b"01234567"[..]));
    assert_eq!(now(link.read(Vec::new())).0.map_err(|e| e.kind()), Err(ErrorKind::InvalidInput));

    let (bell, waker) = bells();
    let mut paces = Vec::new();
    {
        let mut write = pin!(link.write_paced(b"abcdefghij".to_vec(), |n| paces.push(n)));
        assert!(write.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        assert_eq!((peer.take(), bell.count()), (b"abcdefgh".to_vec(), 1));
        let (done, buf) = now(write);
        assert!(done.is_ok() && buf == b"abcdefghij");
    }
    assert_eq!((peer.take(), paces), (b"ij".to_vec(), vec![8, 2]));

    peer.half_close();
    assert_eq!(now(link.read(buffer())).0.ok(), Some(0));
    assert!(now(link.write_all(b"late".to_vec())).0.is_ok());
    drop(link);
    assert!(peer.link_ended());
    assert_eq!(now(peer.read()), b"late");
    assert_eq!(now(peer.read()), b"");
    assert_eq!(peer.try_write(b"x").map_err(|e| e.kind()), Err(ErrorKind::BrokenPipe));
}

/// A write that does not wait takes what there is room for, and fails once the peer is gone.
#[test]
fn writing_now_takes_what_fits() {
    let (link, peer) = pair(8);
    let mut watch = pin!(link.watch());
    assert!(poll_once(watch.as_mut()).is_pending());
    assert_eq!(link.write_now(b"012345").ok(), Some(6));
    assert_eq!((link.write_now(b"6789").ok(), link.write_now(b"89").ok()), (Some(2), Some(0)));
    assert_eq!(peer.take(), b"01234567");
    assert!(poll_once(watch.as_mut()).is_pending(), "watching goes on");
    peer.close();
    assert_eq!(link.write_now(b"x").map_err(|e| e.kind()), Err(ErrorKind::BrokenPipe));
}

/// A watch consumes nothing and tells bytes from a peer that has left, in whatever way it left.
#[test]
fn watch_sees_bytes_and_departures() {
    let (mut link, peer) = pair(8);
    assert!(poll_once(pin!(link.watch())).is_pending());
    assert_eq!(peer.try_write(b"x").ok(), Some(1));
    assert_eq!((now(link.watch()), now(link.watch())), (Peer::Bytes, Peer::Bytes));
    peer.half_close();
    assert_eq!(now(link.watch()), Peer::Bytes, "bytes before the end");
    assert_eq!(now(link.read(buffer())).1, b"x");
    assert_eq!(now(link.watch()), Peer::Gone);

    let leave: [fn(MemPeer); 3] = [|peer| peer.close(), |peer| peer.reset(), drop];
    for leave in leave {
        let (link, peer) = pair(8);
        let (bell, waker) = bells();
        let mut watch = pin!(link.watch());
        assert!(watch.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        leave(peer);
        assert!(bell.count() >= 1);
        assert_eq!(now(watch), Peer::Gone);
    }
}

/// After a close what was sent can be read and writes fail; after a reset nothing works.
#[test]
fn close_and_reset_differ() {
    let (mut link, peer) = pair(8);
    assert_eq!(peer.try_write(b"bye").ok(), Some(3));
    peer.close();
    assert_eq!(now(link.read(buffer())).1, b"bye");
    let failed = now(link.write_all(b"x".to_vec())).0.map_err(|e| e.kind());
    assert_eq!(failed, Err(ErrorKind::BrokenPipe));

    let (mut link, peer) = pair(8);
    assert_eq!(peer.try_write(b"bye").ok(), Some(3));
    peer.reset();
    let failed = now(link.read(buffer())).0.map_err(|e| e.kind());
    assert_eq!(failed, Err(ErrorKind::ConnectionReset));
}

/// A stalled peer holds writes back although there is room; going on lets them through; shutting down ends them.
#[test]
fn stalls_and_shutdowns() {
    let (mut link, peer) = pair(8);
    peer.stall(true);
    let handle = link.shutdown_handle();
    {
        let mut write = pin!(link.write_all(b"held".to_vec()));
        assert!(poll_once(write.as_mut()).is_pending());
        peer.stall(false);
        assert!(now(write).0.is_ok());
    }
    assert_eq!(peer.take(), b"held");
    peer.stall(true);
    let (bell, waker) = bells();
    {
        let mut write = pin!(link.write_all(b"never".to_vec()));
        assert!(write.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        handle.end(How::Both);
        assert_eq!(bell.count(), 1);
        assert_eq!(now(write).0.map_err(|e| e.kind()), Err(ErrorKind::BrokenPipe));
    }
    assert_eq!(now(link.read(buffer())).0.ok(), Some(0));
    drop(link);
    handle.end(How::Both);
}

/// Shutting down reading leaves writing alone.
#[test]
fn shutdown_of_reading_leaves_writing() {
    let (mut link, peer) = pair(8);
    let handle = link.shutdown_handle();
    {
        let mut read = pin!(link.read(buffer()));
        assert!(poll_once(read.as_mut()).is_pending());
        handle.end(How::Read);
        assert_eq!(now(read).0.ok(), Some(0));
    }
    assert!(now(link.write_all(b"408".to_vec())).0.is_ok());
    assert_eq!(peer.take(), b"408");
}

/// Moves bytes both ways by hand, polling the link's side whenever it can move.
fn exchange(link: &mut MemLink, peer: &MemPeer, inward: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let mut sent = 0;
    let mut returned = Vec::new();
    let echoed = {
        let mut echo = pin!(async {
            let mut all = Vec::new();
            loop {
                let (n, buf) = link.read(Vec::with_capacity(3)).await;
                if n.expect("nothing breaks here") == 0 {
                    return all;
                }
                all.extend(&buf);
                link.write_all(buf).await.0.expect("nothing breaks here");
            }
        });
        loop {
            if let Poll::Ready(all) = poll_once(echo.as_mut()) {
                break all;
            }
            returned.extend(peer.take());
            if sent < inward.len() {
                sent += peer.try_write(&inward[sent..]).expect("the link is open");
            } else {
                peer.half_close();
            }
        }
    };
    returned.extend(peer.take());
    (echoed, returned)
}

proptest! {
    /// Whatever the capacity and however reads and writes are cut short, every byte arrives once and in order.
    #[test]
    fn faults_cut_but_lose_nothing(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        capacity in 0..10_usize,
        cuts in proptest::collection::vec(0..6_usize, 1..20),
    ) {
        let (mut link, peer) = pair(capacity);
        let mut next = 0;
        peer.set_faults(Box::new(move |moment, available| {
            next += 1;
            let cut = cuts[next % cuts.len()];
            if moment == Moment::Read { cut } else { available.saturating_sub(cut) }
        }));
        let (echoed, returned) = exchange(&mut link, &peer, &bytes);
        prop_assert_eq!(&echoed, &bytes);
        prop_assert_eq!(&returned, &bytes);
    }
}
