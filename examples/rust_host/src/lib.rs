//! A client of cellblock in Rust, over the C interface of libcellblock-client: an example to begin with.

mod abi;
pub mod client;
pub mod question;
