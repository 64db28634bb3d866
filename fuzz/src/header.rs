//! The sentinel decoder and the value comparisons.

use codec::header;

/// A field value; text that decodes is also compared as a number.
pub fn header(data: &[u8]) {
    let kinds = [
        (header::ParamKind::String, header::Argument::String("a")),
        (header::ParamKind::Integer, header::Argument::Number(header::Number::I64(42))),
        (header::ParamKind::Boolean, header::Argument::Boolean(true)),
    ];
    for (kind, argument) in kinds {
        let _ = header::check_param(kind, Some(data), argument);
    }
    if let Ok(text) = header::decode(data) {
        assert!(header::legal(data));
        let again = header::encode(&text);
        assert_eq!(header::decode(again.as_bytes()).as_deref(), Ok(&*text));
    }
}

pub(crate) const CORPUS: &[&[u8]] = &[
    b"=?base64?SGVsbG8sIOS4lueVjA==?=",
    b"=?base64??=",
    b"=?base64?=",
    b" eu-west\t",
    b"-42.0",
    b"9007199254740993",
    b"true",
];

pub(crate) const DICTIONARY: &[&[u8]] =
    &[b"=?base64?", b"?=", b"=", b"==", b"/w", b"_-", b" ", b"\t", b".0", b"-", b"0"];
