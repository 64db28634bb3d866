//! Wrong flags and a system in the way: one line on standard error that names the remedy, and an exit code that says
//! who can help.

use std::net::TcpListener;

use crate::process::run;

/// Nothing on standard output, one line on standard error.
fn refused(args: &[&str], code: i32, texts: &[&str]) {
    let (status, out, err) = run(args);
    assert_eq!((status, out.as_str()), (Some(code), ""), "{args:?}: {err}");
    let lines: Vec<&str> =
        err.lines().filter(|line| line.starts_with("ringmcp-server: ")).collect();
    assert_eq!(lines.len(), 1, "{args:?}: {err}");
    for text in texts {
        assert!(lines[0].contains(text), "{args:?}: {err}");
    }
}

#[test]
fn a_port_in_use_is_the_systems_and_names_the_remedy() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    refused(&["--listen", &address], 1, &[&address, "already in use", "choose another port"]);
}

#[test]
fn an_address_of_another_machine_is_the_systems() {
    // TEST-NET-3 of RFC 5737: nobody has it.
    refused(&["--listen", "203.0.113.7:0"], 1, &["no such address", "127.0.0.1"]);
}

#[test]
fn wrong_flags_are_the_operators_and_one_line_each() {
    let wrong: &[(&[&str], &str)] = &[
        (&["--bogus"], "'--bogus'"),
        (&["--head-byte", "3"], "'--head-bytes'"),
        (&["--body-bytes", "4mb"], "4MiB"),
        (&["--keep-alive", "5"], "500ms"),
        (&["--listen", "8080"], "HOST:PORT"),
        (&["--listen", "::1:8080"], "[::1]:8080"),
        (&["--listen", "127.0.0.1:99999"], "65535"),
        (&["--driver", "kqueue"], "auto, uring, epoll"),
        (&["--workers", "0"], "from 1 on"),
        (&["--path", "mcp"], "must start with /"),
        (&["--log", "a=b=c"], "such as info or debug"),
        (&["--allow-origin", "foo bar"], "scheme://host"),
        (&["--bearer", "/nonexistent/token"], "/nonexistent/token"),
        (&["--bearer", "/dev/null"], "at least 16"),
        (&["extra"], "'extra'"),
    ];
    for (args, text) in wrong {
        refused(args, 2, &[text]);
    }
}

/// [SEC-05] a wrong key is refused without being repeated.
#[test]
fn a_wrong_state_key_is_not_repeated() {
    for key in ["k1:5ec1e7", "k1:5ec1ez", "5ec1e7"] {
        let (status, _, err) = run(&["--listen", "127.0.0.1:0", "--state-key", key]);
        assert_eq!(status, Some(2), "{err}");
        assert!(!err.contains("5ec1e"), "{err}");
    }
}

#[test]
fn help_lists_every_group_on_standard_output() {
    let (status, out, err) = run(&["--help"]);
    assert_eq!((status, err.as_str()), (Some(0), ""));
    for text in
        ["Where:", "What:", "Limits on time:", "--head-bytes", "[default: 32KiB]", "Exit codes"]
    {
        assert!(out.contains(text), "{text}");
    }
}
