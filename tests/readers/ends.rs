// SPDX-License-Identifier: MIT
//! Functions that panic: each ends in a call of the panic's own function, which the handler leaves by ends_look().
#![no_std]

use core::hint::black_box;
use core::panic::PanicInfo;

extern "C" {
    fn ends_look() -> !;
}

#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    unsafe { ends_look() }
}

#[inline(never)]
fn index<const N: usize>(at: usize) -> usize {
    let words = [N; 3];
    black_box(&words)[at] + N
}

#[inline(never)]
fn divide<const N: i32>(by: i32) -> i32 {
    black_box(N + 7) / by
}

#[inline(never)]
fn unwrap<const N: usize>(none: Option<&usize>) -> usize {
    black_box(N) + none.unwrap()
}

#[inline(never)]
fn says<const N: usize>(number: usize) -> ! {
    panic!("{} of {}", black_box(N), number)
}

#[no_mangle]
pub extern "C" fn ends_rust(which: i32) {
    let far = black_box(9usize);
    match which {
        0 => index::<1>(far),
        1 => index::<200>(far),
        2 => index::<70000>(far),
        3 => index::<5000000000>(far),
        4 => divide::<1>(black_box(0)) as usize,
        5 => divide::<200>(black_box(0)) as usize,
        6 => divide::<70000>(black_box(0)) as usize,
        7 => divide::<90000000>(black_box(0)) as usize,
        8 => unwrap::<1>(black_box(None)),
        9 => unwrap::<200>(black_box(None)),
        10 => unwrap::<70000>(black_box(None)),
        11 => unwrap::<5000000000>(black_box(None)),
        12 => says::<1>(far),
        13 => says::<200>(far),
        14 => says::<70000>(far),
        _ => says::<5000000000>(far),
    };
}
