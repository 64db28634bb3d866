//! A parsed request head: offsets into the read buffer, and a view that joins them with its bytes.

use std::ops::Range;

/// A byte range of the read buffer. Offsets survive reallocation of the buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// Where `part` lies in `whole`, shifted by `base`. `part` must be a slice of `whole`.
    pub(crate) fn of(whole: &[u8], part: &[u8], base: usize) -> Span {
        let start = part.as_ptr() as usize - whole.as_ptr() as usize + base;
        Span { start: start as u32, end: (start + part.len()) as u32 }
    }

    /// The span as a range.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The bytes of the span; empty if `buf` is not the buffer the span was made for.
    pub fn bytes(self, buf: &[u8]) -> &[u8] {
        buf.get(self.range()).unwrap_or_default()
    }

    fn shift_down(&mut self, count: u32) {
        self.start -= count;
        self.end -= count;
    }
}

/// One header line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeaderSpan {
    /// Field name, a token, in the case it was sent in.
    pub name: Span,
    /// Field value without leading and trailing spaces and tabs.
    pub value: Span,
}

/// How the end of the body is found (RFC 9112, 6.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// No body follows.
    #[default]
    Empty,
    /// `Content-Length`, in bytes; a number beyond `u64` is `u64::MAX`. Zero is [`Framing::Empty`].
    Length(u64),
    /// `Transfer-Encoding: chunked`.
    Chunked,
}

/// A request head. Offsets count from the start of the buffer last given to `Machine::poll`.
#[derive(Clone, Debug, Default)]
pub struct Head {
    /// Method token, case as sent.
    pub method: Span,
    /// Request target as sent.
    pub target: Span,
    /// HTTP minor version: 0 or 1.
    pub minor: u8,
    /// Header lines in order. The storage is reused from request to request.
    pub headers: Vec<HeaderSpan>,
    /// How the body ends.
    pub framing: Framing,
    /// Whether the client lets the connection live on (RFC 9112, 9.3).
    pub keep_alive: bool,
    /// Whether the client waits for `100 Continue` (RFC 9110, 10.1.1).
    pub expect_continue: bool,
    /// Path of the target without its query; empty for `http://host`.
    pub(crate) path: Span,
    /// Authority of an absolute-form target, else the value of `Host`.
    pub(crate) host: Option<Span>,
}

impl Head {
    /// Joins the offsets with the bytes they count in.
    pub fn view<'a>(&'a self, buf: &'a [u8]) -> HeadView<'a> {
        HeadView { head: self, buf }
    }

    /// Forgets the previous request, keeping the storage.
    pub(crate) fn clear(&mut self) {
        let mut headers = std::mem::take(&mut self.headers);
        headers.clear();
        *self = Head { headers, ..Head::default() };
    }

    /// Follows `count` bytes being dropped from the front of the buffer.
    pub(crate) fn shift_down(&mut self, count: u32) {
        self.method.shift_down(count);
        self.target.shift_down(count);
        self.path.shift_down(count);
        if let Some(host) = &mut self.host {
            host.shift_down(count);
        }
        for header in &mut self.headers {
            header.name.shift_down(count);
            header.value.shift_down(count);
        }
    }
}

/// Whether the name of a header line, a token in any case, is `expected`: lower-case letters and hyphens.
///
/// The bit that tells upper from lower case is ignored in every byte, so that all bytes are compared at once. What becomes
/// a letter or a hyphen by that is a letter, a hyphen, or no character of a token.
pub(crate) fn is_named<const N: usize>(name: &[u8], expected: &[u8; N]) -> bool {
    <&[u8; N]>::try_from(name).is_ok_and(|name| {
        name.iter().zip(expected).fold(0, |apart, (byte, lower)| apart | ((byte | 0x20) ^ lower))
            == 0
    })
}

/// A head with its bytes.
#[derive(Clone, Copy, Debug)]
pub struct HeadView<'a> {
    head: &'a Head,
    buf: &'a [u8],
}

impl<'a> HeadView<'a> {
    /// The head's offsets and flags.
    pub fn head(&self) -> &'a Head {
        self.head
    }

    /// Method, case as sent (`post` is not `POST`, RFC 9110, 9.1).
    pub fn method(&self) -> &'a str {
        self.text(self.head.method)
    }

    /// Whether the method is this one: [`HeadView::method`] without making text of it.
    pub fn is_method(&self, method: &str) -> bool {
        self.head.method.bytes(self.buf) == method.as_bytes()
    }

    /// Whether the path is this one: [`HeadView::path`] without making text of it.
    pub fn is_path(&self, path: &str) -> bool {
        match self.head.path.bytes(self.buf) {
            [] => path == "/",
            own => own == path.as_bytes(),
        }
    }

    /// Name and value of the header line at this place in the order; empty beyond the last.
    pub fn line(&self, at: usize) -> (&'a [u8], &'a [u8]) {
        let line = self.head.headers.get(at).copied().unwrap_or_default();
        (line.name.bytes(self.buf), line.value.bytes(self.buf))
    }

    /// Request target as sent: origin-form, absolute-form, `*`, or an authority for `CONNECT`.
    pub fn target(&self) -> &'a str {
        self.text(self.head.target)
    }

    /// Path without the query, exactly as sent: no decoding, no dot segments removed (HTTP-23).
    /// `*` for `OPTIONS *`, the authority for `CONNECT`, `/` for an absolute target without path.
    pub fn path(&self) -> &'a str {
        if self.head.path.start == self.head.path.end { "/" } else { self.text(self.head.path) }
    }

    /// The host and port the request is for: the authority of an absolute-form target, which replaces
    /// `Host` (RFC 9112, 3.2.2), else the value of `Host`. `None` only in HTTP/1.0.
    pub fn host(&self) -> Option<&'a str> {
        self.head.host.map(|span| self.text(span))
    }

    /// Value of the first header line called `name`, in any case.
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        self.all(name).next()
    }

    /// Values of all header lines called `name`, in any case, in order.
    pub fn all<'n>(&self, name: &'n str) -> impl Iterator<Item = &'a [u8]> + use<'a, 'n> {
        self.iter().filter(move |(key, _)| key.eq_ignore_ascii_case(name.as_bytes())).map(|h| h.1)
    }

    /// Name and value of every header line, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        let HeadView { head, buf } = *self;
        head.headers.iter().map(move |h| (h.name.bytes(buf), h.value.bytes(buf)))
    }

    /// Method, target and host are ASCII by the time they are in a head.
    fn text(&self, span: Span) -> &'a str {
        std::str::from_utf8(span.bytes(self.buf)).unwrap_or_default()
    }
}
