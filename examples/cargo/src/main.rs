//! A program with a call chain worth unwinding.

#[inline(never)]
fn factorial(n: u32) -> u32 {
    if n < 2 {
        1
    } else {
        n * factorial(n - 1)
    }
}

fn main() {
    println!("10! = {}", factorial(10));
}
