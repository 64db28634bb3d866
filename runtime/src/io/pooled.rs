//! Boxes for the futures of handlers and of requests, out of free lists of their thread: a warm call takes its memory from
//! the call before.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll};

/// The smallest block in bytes, and so the size class that most handlers share.
const BLOCK_BYTES_MIN: usize = 256;

/// Size classes: each is larger by the smallest than the one before. A larger future is allocated as it comes.
const CLASSES: usize = 32;

/// Alignment of every block; a future that asks for more is allocated as it comes.
const BLOCK_ALIGN: usize = 16;

/// Free blocks that one thread keeps of a class.
const KEPT_MAX: usize = 64;

thread_local! {
    static FREE: RefCell<Free> = const { RefCell::new(Free([const { Vec::new() }; CLASSES])) };
}

/// Blocks without a future, by class; all of class `n` have the layout that [`block`] gives for it.
struct Free([Vec<NonNull<u8>>; CLASSES]);

/// A pinned future on the heap, as `Pin<Box<dyn Future>>` is. It never leaves its thread, as [`NonNull`] forbids it.
pub(crate) struct PooledFuture<'a, T> {
    /// Owned: valid until the drop, and never moved.
    future: NonNull<dyn Future<Output = T> + 'a>,
}

impl<'a, T> PooledFuture<'a, T> {
    pub(crate) fn new<F: Future<Output = T> + 'a>(future: F) -> Self {
        let place = take(Layout::new::<F>()).cast::<F>();
        // SAFETY: `take` gives memory that fits the layout of F and that nobody else holds.
        unsafe { place.write(future) };
        Self { future: place }
    }

    /// The future, to be polled.
    pub(crate) fn as_mut(&mut self) -> Pin<&mut (dyn Future<Output = T> + 'a)> {
        // SAFETY: the future was written by `new`, is borrowed through `self` alone, and stays where it is until it is
        // dropped in place by this type's drop, which is what a pin promises.
        unsafe { Pin::new_unchecked(self.future.as_mut()) }
    }
}

impl<T> Future for PooledFuture<'_, T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        self.get_mut().as_mut().poll(cx)
    }
}

impl<T> Drop for PooledFuture<'_, T> {
    fn drop(&mut self) {
        // SAFETY: written by `new`, not yet dropped.
        let layout = Layout::for_value(unsafe { self.future.as_ref() });
        // Given back also when the future's destructor panics.
        let _block = Block { place: self.future.cast(), layout };
        // SAFETY: owned by `self`, dropped only here, and used by nobody afterwards.
        unsafe { self.future.drop_in_place() };
    }
}

/// Memory from [`take`] for `layout`, given back when dropped.
struct Block {
    place: NonNull<u8>,
    layout: Layout,
}

impl Drop for Block {
    fn drop(&mut self) {
        let (block, class) = block(self.layout);
        let keep = |free: &RefCell<Free>| {
            let kept = &mut free.borrow_mut().0[class?];
            // All the room at once: keeping a block is not to allocate later.
            kept.reserve_exact(KEPT_MAX - kept.len());
            (kept.len() < KEPT_MAX).then(|| kept.push(self.place))
        };
        if FREE.try_with(keep).ok().flatten().is_none() {
            // SAFETY: `take` allocated it with this layout, since `block` depends on the future's layout alone.
            unsafe { dealloc(self.place.as_ptr(), block) };
        }
    }
}

/// Gives the free blocks of this thread back to the allocator.
pub(crate) fn shed_blocks() {
    // Taken out first: giving back is not done under the borrow.
    let free = FREE.try_with(|free| free.replace(Free([const { Vec::new() }; CLASSES])));
    drop(free);
}

impl Drop for Free {
    fn drop(&mut self) {
        for (class, blocks) in self.0.iter_mut().enumerate() {
            let block = class_layout(class);
            // SAFETY: a block of this class was allocated with this layout, and only free ones are listed.
            blocks.drain(..).for_each(|place| unsafe { dealloc(place.as_ptr(), block) });
        }
    }
}

/// Memory that fits `layout`.
fn take(layout: Layout) -> NonNull<u8> {
    let (block, class) = block(layout);
    let kept = FREE.try_with(|free| free.borrow_mut().0[class?].pop());
    kept.ok().flatten().unwrap_or_else(|| {
        // SAFETY: no block has size zero: see `block`.
        let place = unsafe { alloc(block) };
        NonNull::new(place).unwrap_or_else(|| handle_alloc_error(block))
    })
}

/// What is really allocated for `layout`, never of size zero, and the class it belongs to.
fn block(layout: Layout) -> (Layout, Option<usize>) {
    let class = layout.size().saturating_sub(1) / BLOCK_BYTES_MIN;
    match Some(class).filter(|class| *class < CLASSES && layout.align() <= BLOCK_ALIGN) {
        Some(class) => (class_layout(class), Some(class)),
        // A zero-sized future with a large alignment takes as many bytes as it is aligned to.
        None if layout.size() == 0 => (layout_of(layout.align(), layout.align()), None),
        None => (layout, None),
    }
}

const fn class_layout(class: usize) -> Layout {
    layout_of(BLOCK_BYTES_MIN * (class + 1), BLOCK_ALIGN)
}

const fn layout_of(bytes: usize, align: usize) -> Layout {
    match Layout::from_size_align(bytes, align) {
        Ok(layout) => layout,
        Err(_) => panic!("a power of two is an alignment, and a block is small"),
    }
}
