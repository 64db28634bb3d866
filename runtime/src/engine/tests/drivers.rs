//! The choice of the driver and the texts an operator reads.

use std::io;

use super::{drivers, on_each_driver};
use crate::engine::driver::{Chosen, Driver, choose, explain};
use crate::engine::worker::parse_cpus;

/// Every refusal names its likely cause and a remedy.
#[test]
fn a_refused_ring_is_explained() {
    let cases = [
        (libc::ENOSYS, None, "kernel does not know", "Linux 5.6"),
        (libc::ENOSYS, Some("0\n"), "seccomp", "profile"),
        (libc::EPERM, Some("0\n"), "seccomp", "profile"),
        (libc::EPERM, None, "seccomp", "profile"),
        (libc::EPERM, Some("2\n"), "kernel.io_uring_disabled is 2", "set it to 0"),
        (libc::EPERM, Some("1\n"), "kernel.io_uring_disabled is 1", "io_uring_group"),
        (libc::ENOMEM, Some("0\n"), "locked memory", "memlock"),
        (libc::EMFILE, Some("0\n"), "descriptors", "ulimit -n"),
    ];
    for (errno, sysctl, cause, remedy) in cases {
        let text = explain(&io::Error::from_raw_os_error(errno), sysctl).to_string();
        assert!(text.starts_with("io_uring is not available: "), "{text}");
        assert!(text.contains(cause) && text.contains(remedy), "{errno} {sysctl:?}: {text}");
        assert!(text.contains("epoll"), "{text}");
    }
    let odd = explain(&io::Error::from_raw_os_error(libc::EINVAL), None).to_string();
    assert!(odd.contains("Invalid argument") && odd.contains("epoll"), "{odd}");
}

/// epoll is never probed for; auto takes the ring exactly where a demand for it succeeds, else says why not.
#[test]
fn auto_falls_back_and_a_demand_does_not() {
    assert_eq!(choose(Driver::Epoll), Ok((Chosen::Epoll, None)));
    match choose(Driver::Uring) {
        Ok(choice) => {
            assert_eq!(choice, (Chosen::Uring, None));
            assert_eq!(choose(Driver::Auto), Ok((Chosen::Uring, None)));
        }
        Err(reason) => assert_eq!(choose(Driver::Auto), Ok((Chosen::Epoll, Some(reason)))),
    }
    assert!(drivers().contains(&Chosen::Epoll));
}

/// The flag's names, and a clear error for any other.
#[test]
fn drivers_have_names() {
    let all = [("auto", Driver::Auto), ("epoll", Driver::Epoll), ("uring", Driver::Uring)];
    for (name, driver) in all {
        assert_eq!(name.parse(), Ok(driver));
    }
    assert!("kqueue".parse::<Driver>().is_err_and(|e| e.contains("kqueue")));
    assert_eq!(Driver::default(), Driver::Auto);
}

/// Each driver builds a runtime whose timers work.
#[test]
fn timers_work_on_each_driver() {
    on_each_driver(async |_| {
        let start = std::time::Instant::now();
        monoio::time::sleep(std::time::Duration::from_millis(5)).await;
        assert!(start.elapsed().as_millis() >= 5);
    });
}

/// The kernel's CPU lists.
#[test]
fn cpu_lists_are_read() {
    assert_eq!(parse_cpus("0-2,8"), [0, 1, 2, 8]);
    assert_eq!(parse_cpus("3"), [3]);
    assert!(parse_cpus("").is_empty() && parse_cpus("x-y,").is_empty());
}
