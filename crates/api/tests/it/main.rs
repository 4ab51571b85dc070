//! The Funds API as its callers see it.

mod error_pages;
