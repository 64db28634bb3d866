//! The server's allocator, and how it is made to give memory back.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A huge page is resident as a whole once a byte of it is used. The allocator asks for them, which would make a server
/// with ten thousand idle connections twice as large.
pub(crate) fn use_small_pages() {
    // Where the kernel cannot, the server is larger and otherwise the same.
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}

/// Gives what the calling thread has freed back to the system. By itself the allocator keeps it until it is used again: to
/// give back at each free (its purge delay of zero) costs calls of the system under load, after a peak it costs nobody.
pub(crate) fn give_back() {
    // SAFETY: the function has no precondition: it looks through the pages of the calling thread, and releases those that
    // hold no allocation. Whatever is allocated stays where it is.
    unsafe { libmimalloc_sys::mi_collect(true) }
}
