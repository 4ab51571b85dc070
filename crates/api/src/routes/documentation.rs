//! What the OpenAPI document says about all operations.
//!
//! | file | what it adds |
//! | --- | --- |
//! | `forms` | the form of amounts, addresses, names and signatures in bodies |
//! | `signed_messages` | the typed messages that callers sign (EIP-712), for people and for programs |

mod forms;
mod signed_messages;

use utoipa::{
    Modify, OpenApi,
    openapi::{
        self, ContentBuilder, HeaderBuilder, Ref, RefOr, ResponseBuilder,
        path::{Operation, ParameterBuilder, ParameterIn},
        schema::{ObjectBuilder, Type},
        security::{Http, HttpAuthScheme, SecurityScheme},
    },
};

use crate::errors::ErrorBody;

#[derive(OpenApi)]
#[openapi(
    info(title = "Bankroll Funds API", version = "1", description = "Balances of real-money games: accounts, \
        transfers, holds, spawns, exits, payouts. Amounts are decimal strings in base units. Every change needs an \
        Idempotency-Key: the same request with the same key takes effect once."),
    components(schemas(ErrorBody<'static>)),
    modifiers(&SecuritySchemes),
)]
pub(super) struct ApiDocument;

struct SecuritySchemes;

impl Modify for SecuritySchemes {
    fn modify(&self, document: &mut openapi::OpenApi) {
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("session", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)));
    }
}

/// Adds what every operation has: the error body, headers of answers, and the key of changes.
pub(super) fn finished(mut document: openapi::OpenApi) -> openapi::OpenApi {
    forms::describe(&mut document);
    signed_messages::describe(&mut document);
    for (path, item) in &mut document.paths.paths {
        // Each operation of a batch has a key of its own; closing a session twice is closing it once.
        let has_key = !path.ends_with("/batch") && !path.ends_with("/sessions/current");
        if path.starts_with("/v1/registry/") {
            let operations = [&mut item.get, &mut item.post, &mut item.patch, &mut item.delete];
            operations.into_iter().flatten().for_each(|operation| operation.tags = Some(vec!["registry".to_owned()]));
        }
        let changes = [&mut item.post, &mut item.put, &mut item.patch, &mut item.delete];
        changes.into_iter().flatten().for_each(|operation| finish(operation, has_key));
        item.get.iter_mut().for_each(|operation| finish(operation, false));
    }
    document
}

fn finish(operation: &mut Operation, has_key: bool) {
    let errors = |description: &str| {
        let schema = RefOr::Ref(Ref::from_schema_name("ErrorBody"));
        let content = ContentBuilder::new().schema(Some(schema)).build();
        ResponseBuilder::new().description(description).content("application/problem+json", content).build()
    };
    let statuses = ["400", "401", "403", "404", "405", "408", "409", "413", "415", "422", "429", "500", "503"];
    for status in statuses {
        let description = "See the code; /errors/CODE explains it.";
        operation.responses.responses.entry(status.to_owned()).or_insert_with(|| RefOr::T(errors(description)));
    }
    for (status, response) in &mut operation.responses.responses {
        let RefOr::T(response) = response else { continue };
        let mut add = |name: &str, description: &str, kind| {
            let schema = ObjectBuilder::new().schema_type(kind).build();
            let header = HeaderBuilder::new().schema(Some(schema)).description(Some(description)).build();
            response.headers.insert(name.to_owned(), RefOr::T(header));
        };
        add("X-Request-Id", "The id of the request in the log: the caller's own, or a new one.", Type::String);
        match status.as_str() {
            "429" | "503" => add("Retry-After", "After how many seconds a retry makes sense.", Type::Integer),
            "200" if has_key => {
                add("Idempotent-Replayed", "`true` for the answer to an earlier request.", Type::String)
            }
            _ => {}
        }
    }
    if has_key && operation.security.is_some() {
        let schema = ObjectBuilder::new().schema_type(Type::String).min_length(Some(1)).max_length(Some(200));
        let key = ParameterBuilder::new()
            .name("Idempotency-Key")
            .parameter_in(ParameterIn::Header)
            .required(openapi::Required::True)
            .description(Some("Chosen by the caller, new for each new request."))
            .schema(Some(schema.build()))
            .build();
        operation.parameters.get_or_insert_default().push(RefOr::T(key));
    }
}
