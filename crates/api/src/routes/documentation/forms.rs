//! The form of the texts in request bodies, so that a client can check them before it sends them. The service refuses
//! what does not have the form; what has it may still be refused, for example an address with a wrong checksum.

use utoipa::openapi::{
    OpenApi, RefOr, Schema,
    schema::{AdditionalProperties, Object},
};

const AMOUNT: &str = "^(0|[1-9][0-9]{0,38})$";
const ADDRESS: &str = "^0x[0-9a-fA-F]{40}$";
const NAME: &str = "^[a-z0-9_.:-]{1,128}$";
const NONCE: &str = "^0x[0-9a-fA-F]{64}$";
const SIGNATURE: &str = "^0x[0-9a-fA-F]{130}$";
/// A contract wallet decides itself what its signature is.
const BYTES: &str = "^0x([0-9a-fA-F]{2})+$";

/// Adds the forms to the fields of all request bodies.
pub(super) fn describe(document: &mut OpenApi) {
    let schemas = document.components.iter_mut().flat_map(|components| &mut components.schemas);
    for (name, schema) in schemas {
        let RefOr::T(Schema::Object(body)) = schema else { continue };
        // An operation of a batch has a result of its own, also if it is malformed: the batch is not refused.
        if !is_request(body) || name == "OperationBody" {
            continue;
        }
        for (field, property) in &mut body.properties {
            if let RefOr::T(Schema::Object(property)) = property {
                property.pattern = form(name, field).map(str::to_owned);
            }
        }
    }
}

/// Request bodies have no other fields than those of the document.
fn is_request(body: &Object) -> bool {
    matches!(body.additional_properties.as_deref(), Some(AdditionalProperties::FreeForm(false)))
}

fn form(body: &str, field: &str) -> Option<&'static str> {
    Some(match (body, field) {
        ("SignInBody", "signature") => BYTES,
        ("NewExitBody" | "NewWithdrawalBody", "to") => ADDRESS,
        (_, "amount" | "buy_in" | "buy_in_min" | "buy_in_max" | "fee_cap" | "mass_per_coin" | "spend_limit") => AMOUNT,
        (_, "address" | "developer" | "payout_address" | "player" | "token" | "wallet") => ADDRESS,
        (_, "chain" | "custody_key" | "exit_id" | "id" | "name" | "request_id" | "server") => NAME,
        (_, "nonce") => NONCE,
        (_, "signature") => SIGNATURE,
        _ => return None,
    })
}
