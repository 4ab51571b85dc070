//! The templates of all paths, so that metrics and logs name operations and not every account.

use std::collections::HashMap;

use utoipa::openapi::OpenApi;

#[derive(Debug)]
pub(super) struct RouteTable {
    /// The templates, `other` last.
    pub templates: Vec<String>,
    /// By the number of segments: the segments, and the template's place. Fixed segments come first.
    by_length: HashMap<usize, Vec<(Vec<String>, usize)>>,
}

impl RouteTable {
    pub fn new(openapi: &OpenApi) -> Self {
        let local = ["/livez", "/readyz", "/openapi.json", "/docs/{*rest}", "/errors/{code}", "other"];
        let templates: Vec<String> = openapi.paths.paths.keys().cloned().chain(local.map(str::to_owned)).collect();
        let mut by_length: HashMap<usize, Vec<(Vec<String>, usize)>> = HashMap::new();
        for (place, template) in templates.iter().enumerate() {
            let segments: Vec<String> = template.split('/').skip(1).map(str::to_owned).collect();
            by_length.entry(segments.len()).or_default().push((segments, place));
        }
        let variables = |segments: &[String]| segments.iter().filter(|segment| segment.starts_with('{')).count();
        by_length.values_mut().for_each(|routes| routes.sort_by_key(|(segments, _)| variables(segments)));
        Self { templates, by_length }
    }

    /// The place of the template that a path fits.
    pub fn find(&self, path: &str) -> usize {
        let count = path.split('/').count() - 1;
        let fits = |segments: &[String]| {
            segments
                .iter()
                .zip(path.split('/').skip(1))
                .all(|(segment, given)| segment.starts_with('{') || segment == given)
        };
        let found = self.by_length.get(&count).and_then(|routes| routes.iter().find(|(segments, _)| fits(segments)));
        found.map_or(self.templates.len() - 1, |(_, place)| *place)
    }
}
