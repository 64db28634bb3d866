//! The TCP link and the listener, on each driver.

use std::cell::RefCell;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use super::{ROOM, buffer};
use crate::engine::driver::Chosen;
use crate::engine::tests::{PATIENCE, on_each_driver, poll_once};
use crate::io::{How, Link, Listener, Peer, TcpLink, bind, step_aside};

/// A connected pair. The listener is stopped by its own first connection, which is how every test here also ends one.
async fn connected(chosen: Chosen) -> (TcpLink, TcpStream) {
    let bound = bind("127.0.0.1:0".parse().expect("an address"), 8, 1).expect("a port");
    let socket = bound.sockets.into_iter().next().expect("one worker's socket");
    let listener = Listener::adopt(socket, chosen.nonblocking()).expect("a listening socket");
    let stop = listener.stop_handle();
    let client = TcpStream::connect(bound.addr).expect("somebody listens");
    client.set_read_timeout(Some(PATIENCE)).expect("a timeout can be set");
    let taken = Rc::new(RefCell::new(None));
    let place = taken.clone();
    let accepted = move |link| {
        stop.stop();
        *place.borrow_mut() = Some(link);
    };
    listener.run(accepted, |e| panic!("accept: {e}")).await;
    let link = taken.take().expect("the connection was accepted");
    (link, client)
}

/// Reads append to what is there, writes give the buffer back, the end of the stream is zero bytes, and a buffer without
/// room is refused instead of looking like the end.
#[test]
fn reads_and_writes() {
    on_each_driver(async |chosen| {
        let (mut link, mut client) = connected(chosen).await;
        assert_eq!(link.peer_addr(), client.local_addr().ok());
        client.write_all(b"one").expect("the link is open");
        let (n, buf) = link.read(buffer()).await;
        assert_eq!((n.ok(), &buf[..]), (Some(3), &b"one"[..]));
        client.write_all(b"two").expect("the link is open");
        let (n, buf) = link.read(buf).await;
        assert_eq!((n.ok(), &buf[..]), (Some(3), &b"onetwo"[..]));
        let (done, buf) = link.write_all(buf).await;
        assert!(done.is_ok() && buf == b"onetwo");
        let mut answer = [0; 6];
        client.read_exact(&mut answer).expect("it was written");
        assert_eq!(&answer, b"onetwo");
        let (refused, _) = link.read(Vec::new()).await;
        assert_eq!(refused.map_err(|e| e.kind()), Err(ErrorKind::InvalidInput));
        drop(client);
        assert_eq!(link.read(buffer()).await.0.ok(), Some(0));
    });
}

/// A watch consumes nothing, may be dropped while pending, and does not spin on readiness left over from a read.
#[test]
fn watch_sees_bytes_and_loses_none() {
    on_each_driver(async |chosen| {
        let (mut link, mut client) = connected(chosen).await;
        client.write_all(b"first").expect("the link is open");
        assert_eq!(link.watch().await, Peer::Bytes);
        assert_eq!(link.watch().await, Peer::Bytes);
        let (n, _) = link.read(buffer()).await;
        assert_eq!(n.ok(), Some(5));
        for _ in 0..100 {
            assert_eq!(poll_once(pin!(link.watch())), Poll::Pending);
        }
        step_aside().await;
        {
            let mut watch = pin!(link.watch());
            assert_eq!(poll_once(watch.as_mut()), Poll::Pending);
            client.write_all(b"second").expect("the link is open");
            assert_eq!(watch.await, Peer::Bytes);
        }
        let (_, buf) = link.read(buffer()).await;
        assert_eq!(buf, b"second");
    });
}

/// A write that does not wait takes what the socket has room for, beside a pending watch, and fails once both directions
/// were shut down.
#[test]
fn writing_now_takes_what_fits() {
    on_each_driver(async |chosen| {
        let (link, mut client) = connected(chosen).await;
        {
            let mut watch = pin!(link.watch());
            assert!(poll_once(watch.as_mut()).is_pending());
            let chunk = [b'x'; 4096];
            let mut taken = 0;
            loop {
                match link.write_now(&chunk).expect("the peer is there") {
                    0 => break,
                    n => taken += n,
                }
                assert!(taken < 64 << 20, "nobody reads");
            }
            let mut answer = vec![0; taken];
            client.read_exact(&mut answer).expect("it was written");
            assert!(answer.iter().all(|byte| *byte == b'x'));
            assert!(poll_once(watch.as_mut()).is_pending(), "watching goes on");
        }
        let parts = link.write_parts_now([b"one", b"", b"two"]).expect("the peer is there");
        let mut answer = [0; 6];
        client.read_exact(&mut answer).expect("it was written");
        assert_eq!((parts, &answer), (6, b"onetwo"));
        link.shutdown_handle().end(How::Both);
        assert!(link.write_now(b"x").is_err() && link.write_parts_now([b"x"; 3]).is_err());
    });
}

/// A close, a half-close and a reset are all seen while a watch is pending.
#[test]
fn watch_sees_the_peer_leave() {
    on_each_driver(async |chosen| {
        let leave: [fn(TcpStream) -> Option<TcpStream>; 3] = [
            |client| {
                drop(client);
                None
            },
            |client| {
                client.shutdown(std::net::Shutdown::Write).expect("it is open");
                Some(client)
            },
            |client| {
                let socket = socket2::SockRef::from(&client);
                socket.set_linger(Some(std::time::Duration::ZERO)).expect("it is open");
                None
            },
        ];
        for leave in leave {
            let (link, client) = connected(chosen).await;
            let mut watch = pin!(link.watch());
            assert_eq!(poll_once(watch.as_mut()), Poll::Pending);
            let _kept = leave(client);
            assert_eq!(watch.await, Peer::Gone);
        }
    });
}

/// Shutting down finishes what is in flight: a read sees the end and an answer can still be written; a write that
/// nobody takes fails; a watch sees the peer gone.
#[test]
fn shutdown_finishes_operations_in_flight() {
    on_each_driver(async |chosen| {
        let (mut link, mut client) = connected(chosen).await;
        let handle = link.shutdown_handle();
        {
            let mut read = pin!(link.read(buffer()));
            assert!(poll_once(read.as_mut()).is_pending());
            handle.end(How::Read);
            assert_eq!(read.await.0.ok(), Some(0));
        }
        assert!(link.write_all(b"408".to_vec()).await.0.is_ok());
        let mut answer = [0; 3];
        client.read_exact(&mut answer).expect("it was written");
        assert_eq!(link.watch().await, Peer::Gone);

        let mut moved = 0;
        {
            let mut write = pin!(link.write_paced(vec![b'x'; 64 << 20], |n| moved += n));
            for _ in 0..64 {
                assert!(poll_once(write.as_mut()).is_pending(), "nobody reads");
                step_aside().await;
            }
            handle.end(How::Both);
            let (failed, _) = write.await;
            assert_eq!(failed.map_err(|e| e.kind()), Err(ErrorKind::BrokenPipe));
        }
        assert!(moved < 64 << 20);
        handle.end(How::Both);
    });
}

/// A handle that outlives its link does nothing, whatever socket has the descriptor's number by then.
#[test]
fn shutdown_after_the_link_is_gone_does_nothing() {
    on_each_driver(async |chosen| {
        let (link, client) = connected(chosen).await;
        let handle = link.shutdown_handle();
        drop((link, client));
        let mut others = Vec::new();
        for _ in 0..8 {
            others.push(connected(chosen).await);
        }
        handle.end(How::Both);
        for (link, client) in &mut others {
            client.write_all(b"alive").expect("the link is open");
            assert_eq!(link.read(buffer()).await.0.ok(), Some(5));
        }
    });
}

/// The last answer arrives whole although the peer's own bytes were never read: no reset overtakes it.
#[test]
fn close_does_not_lose_the_last_answer() {
    on_each_driver(async |chosen| {
        let (mut link, mut client) = connected(chosen).await;
        client.write_all(&[b'r'; 100_000]).expect("the link is open");
        let answer = vec![b'a'; 200_000];
        let reader = std::thread::spawn(move || {
            let mut got = Vec::new();
            let end = client.read_to_end(&mut got);
            // More unread bytes after the answer: still no reset, the link throws them away.
            let _ = client.write_all(&[b's'; 50_000]);
            (end.is_ok(), got.len())
        });
        let (done, _) = link.write_all(answer).await;
        assert!(done.is_ok());
        link.close().await;
        assert_eq!(reader.join().expect("reading cannot panic"), (true, 200_000));
    });
}

/// Stopping ends an accept that is already waiting, and nothing listens any more.
#[test]
fn a_listener_stops_while_it_waits() {
    on_each_driver(async |chosen| {
        let bound = bind("127.0.0.1:0".parse().expect("an address"), 8, 1).expect("a port");
        let socket = bound.sockets.into_iter().next().expect("one worker's socket");
        let listener = Listener::adopt(socket, chosen.nonblocking()).expect("a listening socket");
        let stop = listener.stop_handle();
        let running = monoio::spawn(listener.run(|_| panic!("nobody connects"), |e| panic!("{e}")));
        step_aside().await;
        step_aside().await;
        assert!(!running.is_finished());
        stop.stop();
        running.await;
        assert!(TcpStream::connect(bound.addr).is_err());
        stop.stop();
    });
}

fn reason(error: &dyn std::error::Error) -> Option<ErrorKind> {
    Some(error.source()?.downcast_ref::<std::io::Error>()?.kind())
}

/// The texts of an address that cannot be had.
#[test]
fn bind_errors_name_address_and_remedy() {
    let held = bind("127.0.0.1:0".parse().expect("an address"), 8, 1).expect("a port");
    let taken = bind(held.addr, 8, 1).expect_err("the address is taken");
    assert_eq!(reason(&taken), Some(ErrorKind::AddrInUse));
    let text = taken.to_string();
    assert!(text.contains(&held.addr.to_string()) && text.contains("another port"), "{text}");

    let foreign = bind("192.0.2.1:0".parse().expect("an address"), 8, 1).expect_err("not ours");
    assert_eq!(reason(&foreign), Some(ErrorKind::AddrNotAvailable));
    assert!(foreign.to_string().contains("192.0.2.1:0: this machine has no such address"));
}

/// A step aside lets tasks that were ready before run first.
#[test]
fn stepping_aside_lets_siblings_run() {
    on_each_driver(async |_| {
        let order = Rc::new(RefCell::new(Vec::new()));
        let tasks: Vec<_> = (0..3)
            .map(|i| {
                let order = order.clone();
                monoio::spawn(async move {
                    order.borrow_mut().push((i, 1));
                    step_aside().await;
                    order.borrow_mut().push((i, 2));
                })
            })
            .collect();
        for task in tasks {
            task.await;
        }
        assert_eq!(*order.borrow(), [(0, 1), (1, 1), (2, 1), (0, 2), (1, 2), (2, 2)]);
    });
}

/// An interrupted patient read gives its buffer back and loses nothing; one that is not interrupted is a plain read; and
/// an interruption while nothing is read is forgotten.
#[test]
fn patient_reads_are_interrupted_without_loss() {
    on_each_driver(async |chosen| {
        let (mut link, mut client) = connected(chosen).await;
        let handle = link.shutdown_handle();
        handle.end(How::Interrupt);
        for round in 0..50_u8 {
            let kept = vec![b'k'; 3];
            let mut buf = buffer();
            buf.extend(&kept);
            {
                let mut read = pin!(link.read_patiently(buf));
                assert!(poll_once(read.as_mut()).is_pending());
                if round % 2 == 0 {
                    handle.end(How::Interrupt);
                    let (result, buf) = read.await;
                    assert_eq!(result.map_err(|e| e.kind()), Err(ErrorKind::Interrupted));
                    assert_eq!((buf.capacity() >= ROOM, buf), (true, kept));
                } else {
                    client.write_all(&[round; 4]).expect("the link is open");
                    let (result, buf) = read.await;
                    assert_eq!((result.ok(), &buf[3..]), (Some(4), &[round; 4][..]));
                }
            }
            // Interrupted when the bytes are there already: they come now or with the next read, once.
            client.write_all(&[round; 2]).expect("the link is open");
            let (first, buf) = {
                let mut read = pin!(link.read_patiently(buffer()));
                let done = poll_once(read.as_mut());
                handle.end(How::Interrupt);
                match done {
                    Poll::Ready(done) => done,
                    Poll::Pending => read.await,
                }
            };
            if first.is_ok() {
                assert_eq!(buf, [round; 2]);
            } else {
                assert_eq!(link.read(buf).await.1, [round; 2]);
            }
        }
        drop(client);
        assert_eq!(link.read_patiently(buffer()).await.0.ok(), Some(0));
        drop(link);
        handle.end(How::Interrupt);
    });
}
