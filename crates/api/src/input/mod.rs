//! What a request brings: raw bytes with their proof, read strictly.
//!
//! | file | what it does |
//! | --- | --- |
//! | `call` | the request as handlers get it: proof, key, body |
//! | `json` | JSON that has one meaning only |
//! | `shape` | the check of the raw bytes: depth, number of fields, duplicate fields |
//! | `values` | amounts, times, numbers of holds and records |

mod call;
mod json;
mod shape;
mod values;

pub use call::{ApiCall, BATCH_BODY_MAX, BODY_MAX, CallProof, PathParts, bearer_token, body_max, is_batch};
pub use json::{parse_json, parse_query};
pub use shape::{DEPTH_MAX, FIELDS_MAX, check_shape};
pub use values::{amount, hold_id, record_seq, show_time, time};
