//! Long lists are answered in pages.

use serde::Deserialize;
use utoipa::IntoParams;

use crate::{ApiError, ErrorCode};

/// How many entries a page has, unless the caller says otherwise, and at most.
const PAGE: usize = 100;
const PAGE_MAX: usize = 1_000;

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// `next` of the page before.
    pub after: Option<String>,
    /// 1 to 1,000; 100 by default.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    pub limit: Option<String>,
}

/// How many entries the caller wants at most.
pub(super) fn page_size(limit: Option<&str>) -> Result<usize, ApiError> {
    let Some(limit) = limit else { return Ok(PAGE) };
    let size = limit.parse().ok().filter(|size| (1..=PAGE_MAX).contains(size));
    size.ok_or_else(|| ApiError::with(ErrorCode::QueryInvalid, "limit is a number from 1 to 1000"))
}
