//! Every error code, in one table: the code that programs compare, the status, and what a person does about it.
//!
//! The pages under `docs/errors/` and the documentation of the API are written from this table.

use http::StatusCode;

macro_rules! error_codes {
    ($($variant:ident, $code:literal, $status:ident, $retriable:literal, $title:literal, $explanation:literal;)*) => {
        /// Why a request was not carried out. The codes never change.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ErrorCode {
            $(#[doc = $title] $variant,)*
        }

        impl ErrorCode {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// What programs compare: `insufficient_funds`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $code,)* }
            }

            #[must_use]
            pub const fn status(self) -> StatusCode {
                match self { $(Self::$variant => StatusCode::$status,)* }
            }

            /// Whether the same request, with the same key, may succeed later.
            #[must_use]
            pub const fn is_retriable(self) -> bool {
                match self { $(Self::$variant => $retriable,)* }
            }

            /// One short sentence.
            #[must_use]
            pub const fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)* }
            }

            /// What it means and what the caller does next: the text of its page.
            #[must_use]
            pub const fn explanation(self) -> &'static str {
                match self { $(Self::$variant => $explanation,)* }
            }
        }
    };
}

error_codes! {
    // The form of a request.
    BodyNotJson, "body_not_json", BAD_REQUEST, false, "The body is not JSON",
        "The body must be one JSON value in UTF-8, with nothing after it.";
    BodyDuplicateField, "body_duplicate_field", BAD_REQUEST, false, "A field occurs twice",
        "An object of the body has the same field twice. Two readers could read two different requests from it, so the \
         service reads neither.";
    BodyTooDeep, "body_too_deep", BAD_REQUEST, false, "The body is nested too deeply",
        "Objects and arrays may be nested 32 levels deep, and an object may have 64 fields.";
    BodyInvalid, "body_invalid", BAD_REQUEST, false, "The body has other fields than this operation takes",
        "A field is missing, unknown, or of another type. The detail names it. Amounts are strings, not numbers.";
    BodyTooLarge, "body_too_large", PAYLOAD_TOO_LARGE, false, "The body is too large",
        "A body has at most 1 MiB, the body of a batch at most 8 MiB. Divide the batch.";
    BodyTimeout, "body_timeout", REQUEST_TIMEOUT, true, "The body did not arrive in time",
        "The service waits a bounded time for the rest of a request. Nothing was changed; send it again.";
    MediaType, "media_type", UNSUPPORTED_MEDIA_TYPE, false, "The body must be application/json",
        "Send the header `Content-Type: application/json`.";
    QueryInvalid, "query_invalid", BAD_REQUEST, false, "The query has a wrong value",
        "A parameter after the `?` is unknown or has a wrong value. The detail names it.";
    CursorInvalid, "cursor_invalid", BAD_REQUEST, false, "The cursor belongs to another query",
        "Use the `next` of the previous page with the same filters, or omit `after` for the first page.";
    AmountMalformed, "amount_malformed", BAD_REQUEST, false, "The amount is not a whole number of base units",
        "An amount is a string of decimal digits in the asset's base units: no sign, spaces, point, exponent or \
         leading zeros.";
    AmountTooLarge, "amount_too_large", BAD_REQUEST, false, "The amount is too large",
        "An amount is at most 340282366920938463463374607431768211455 (2^128 - 1).";
    AmountZero, "amount_zero", BAD_REQUEST, false, "The amount is zero",
        "A transfer or hold of zero would change nothing.";
    AccountsMustDiffer, "accounts_must_differ", BAD_REQUEST, false, "Both accounts are the same",
        "Money moves between two different accounts.";
    AccountNameInvalid, "account_name_invalid", BAD_REQUEST, false, "This is not the name of an account",
        "An account is named `server/kind/asset` or `server/kind/asset/owner`, for example `arena/funds/1/0xab12`.";
    LegsOutOfRange, "legs_out_of_range", BAD_REQUEST, false, "The request has too few or too many parts",
        "One request has 1 to 16 movements. Use a batch for more; each of its operations stands alone.";
    RequestTooLarge, "request_too_large", BAD_REQUEST, false, "A text of the request is malformed or too long",
        "A reference has 1 to 255 bytes and no control characters; all references of a request fit into 16 KiB.";

    // Idempotency.
    IdempotencyKeyMissing, "idempotency_key_missing", BAD_REQUEST, false, "The header Idempotency-Key is missing",
        "Choose a new key for each new request, and send the same key when you send the same request again: then it \
         takes effect once.";
    IdempotencyKeyInvalid, "idempotency_key_invalid", BAD_REQUEST, false, "The idempotency key is malformed",
        "A key is 1 to 200 printable ASCII characters.";
    IdempotencyMismatch, "idempotency_mismatch", CONFLICT, false, "The key was used for another request",
        "This key belongs to an earlier request with another body. Nothing was changed. A new request needs a new key.";

    // Who the caller is.
    Unauthenticated, "unauthenticated", UNAUTHORIZED, false, "The request proves no caller",
        "Send a session token (`Authorization: Bearer ...`), or sign the request.";
    SessionInvalid, "session_invalid", UNAUTHORIZED, false, "The session token is not valid",
        "This service did not issue the token, or the token was changed. Open a new session.";
    SessionExpired, "session_expired", UNAUTHORIZED, false, "The session has expired",
        "Open a new session. The detail has the time of the service.";
    SessionRevoked, "session_revoked", UNAUTHORIZED, false, "The session or its key was revoked",
        "The session was closed, or the key that opened it was revoked. Open a session with a key that is allowed.";
    SignatureMalformed, "signature_malformed", BAD_REQUEST, false, "The signature is malformed",
        "A signature is 65 bytes in hex, with `0x` before it: r, s and v, with the low value of s.";
    SignatureInvalid, "signature_invalid", UNAUTHORIZED, false, "The signature does not fit the request",
        "The address recovered from the signature is another one than the request names. Check the typed data: domain, \
         chain id, audience, and that the hash of the body is over the bytes that are sent.";
    SignatureExpired, "signature_expired", UNAUTHORIZED, false, "The signed message has expired",
        "The detail has the time of the service. Check the clock of the signer, then sign again.";
    SignatureTooFarAhead, "signature_too_far_ahead", BAD_REQUEST, false, "The signed message expires too late",
        "A message may expire at most 10 minutes ahead, a signed request at most 5. The detail has the time of the \
         service.";
    SignatureNotYetValid, "signature_not_yet_valid", UNAUTHORIZED, true, "The signed message is not valid yet",
        "The message was issued in the future, or says that it is not valid before a later time. The detail has the time \
         of the service. Check the clock of the signer, or wait.";
    AudienceWrong, "audience_wrong", UNAUTHORIZED, false, "The message was signed for another service",
        "The audience of the message is not this service. The detail names this one.";
    ChainWrong, "chain_wrong", UNAUTHORIZED, false, "The message was signed for another chain",
        "The chain id of the message is not the one this service uses. The detail names it.";
    NonceUsed, "nonce_used", CONFLICT, false, "The nonce was used before",
        "Every signed message is accepted once. Sign a new one with a new nonce.";
    NonceUnknown, "nonce_unknown", UNAUTHORIZED, false, "The service did not issue this nonce, or it has expired",
        "Ask for a nonce with `POST /v1/sign-in/nonce`, and use it once, within ten minutes.";
    SignInInvalid, "sign_in_invalid", BAD_REQUEST, false, "The sign-in message is malformed",
        "The message must follow EIP-4361, with the domain of this service. A sign-in has no `Request ID`; a message that \
         links a wallet has `link:` and the player. The detail says what is wrong.";
    KeyNotAllowListed, "key_not_allow_listed", FORBIDDEN, false, "The key is not on the allow-list",
        "The owner adds a game server's key with `POST /v1/registry/server-keys`.";
    KeyRevoked, "key_revoked", FORBIDDEN, false, "The key was revoked, or its time is over",
        "Use the newer key of the game server, or have the owner allow-list one.";
    OutOfBounds, "out_of_bounds", FORBIDDEN, false, "A value is outside what the key is allowed",
        "The allow-list bounds the buy-in and the fees of each key. The detail names value and bounds.";
    WalletTaken, "wallet_taken", CONFLICT, false, "The wallet belongs to another player or to the operator",
        "A wallet belongs to the first player who proves it, and never changes hands.";
    PayoutAddressUnknown, "payout_address_unknown", FORBIDDEN, false, "The payout address is no hot wallet of the key's custody key",
        "A game server pays out of a hot wallet of its own custody key only. The owner adds wallets with `POST /v1/registry/wallets`.";

    SignatureNeeded, "signature_needed", FORBIDDEN, false, "A person signs what they change",
        "A session of a person reads. What a person changes carries their signature over this very request, because \
         every node that relays a token could use it. Sign the request (`X-Bankroll-Signature`).";
    ProposalEnded, "proposal_ended", CONFLICT, false, "The proposal is not open any more",
        "It was carried out, rejected, or has expired. Propose again.";
    ProposalOtherContent, "proposal_other_content", CONFLICT, false, "The proposal has another content",
        "A confirmation repeats the whole content, so that the signature covers it. Read the proposal again.";
    AlreadySigned, "already_signed", CONFLICT, false, "This person has signed the proposal already",
        "A proposal needs the signatures of different people. A person counts once, whatever keys they have.";
    CannotGrant, "cannot_grant", FORBIDDEN, false, "A person grants only rights that they have",
        "The roles or rights of this request include a right that its author, or the person who confirms, does not have.";
    LastOwner, "last_owner", CONFLICT, false, "A deployment keeps an owner who can act",
        "It is the last key of the last owner. Add another owner or key first.";

    // What the caller may do.
    Forbidden, "forbidden", FORBIDDEN, false, "This kind of caller may not do this",
        "The caller can see the resource, and has no right to this operation.";
    RouteNotAllowed, "route_not_allowed", FORBIDDEN, false, "Money may not move between these accounts",
        "The route table of the ledger does not let this caller move money from the one kind of account to the other. \
         A game server moves between `world` and `funds`, `play_only` or `ecosystem`.";
    ConfirmationNeeded, "confirmation_needed", FORBIDDEN, false, "A second person must confirm this",
        "An override of the rules needs the consent of another operator.";
    NotFound, "not_found", NOT_FOUND, false, "There is no such resource",
        "It does not exist, or it is not the caller's: the answer is the same for both.";
    MethodNotAllowed, "method_not_allowed", METHOD_NOT_ALLOWED, false, "The resource has no such method",
        "The header `Allow` names the methods that it has.";

    // What the ledger decides.
    InsufficientFunds, "insufficient_funds", UNPROCESSABLE_ENTITY, false, "The account has too little available",
        "Held amounts are not available. The key remembers this answer: a new attempt needs a new key.";
    AssetMismatch, "asset_mismatch", UNPROCESSABLE_ENTITY, false, "The accounts are of different assets",
        "Both accounts of a movement must be of one asset.";
    HoldExpired, "hold_expired", UNPROCESSABLE_ENTITY, false, "The hold has expired",
        "Its money is available again. Make a new hold.";
    HoldSettled, "hold_settled", UNPROCESSABLE_ENTITY, false, "The hold is settled already",
        "All of it was posted or released.";
    HoldExceeded, "hold_exceeded", UNPROCESSABLE_ENTITY, false, "The hold has less left than this",
        "Post at most what remains of the hold.";
    NotReversible, "not_reversible", UNPROCESSABLE_ENTITY, false, "This record cannot be reversed",
        "It moved no money, or is itself a reversal.";
    AlreadyReversed, "already_reversed", UNPROCESSABLE_ENTITY, false, "This record was reversed before",
        "A record is reversed at most once.";
    BalanceOverflow, "balance_overflow", UNPROCESSABLE_ENTITY, false, "A balance would exceed 2^128 - 1",
        "No account can hold more.";
    ServerPaused, "server_paused", CONFLICT, true, "The game server is paused",
        "The owner has paused this for the server. The key is free: the same request may succeed later.";
    Conflict, "conflict", CONFLICT, false, "The resource has changed in the meantime",
        "Another request changed the resource first. Read it again, and decide anew with a new key.";
    HeadNotPublished, "head_not_published", CONFLICT, true, "No published head covers this record yet",
        "A head of the journal is published about once a second while a node holds the books. Ask again.";
    CustodyShort, "custody_short", CONFLICT, true, "The wallet holds too little in the books",
        "The books wait for the chain. The same request may succeed later.";
    DebtAccountMissing, "debt_account_missing", CONFLICT, true, "The owner of the money has no debt account yet",
        "Open it, then send the same request again.";
    NotEligible, "not_eligible", UNPROCESSABLE_ENTITY, false, "The player cannot do this now",
        "The detail has the reason: too little money, an exclusion, a debt, or a pause.";
    PlayerFrozen, "player_frozen", CONFLICT, true, "An operator has frozen the player",
        "No spawn and no payout until several people lift the freeze. Deposits and exits are still credited. The key is \
         free: the same request may succeed later.";
    FeeCapZero, "fee_cap_zero", UNPROCESSABLE_ENTITY, false, "Players and developers pay for their own gas",
        "Sign a `feeCap` of what the payout may cost in gas at most. It is held on top of the amount; what gas does not \
         cost stays with the owner of the money.";
    DestinationNotAllowed, "destination_not_allowed", UNPROCESSABLE_ENTITY, false,
        "Nothing is paid to the zero address or to addresses of the operator",
        "Coins at the zero address are lost, and coins that come back to the operator's wallets are credited to no \
         player. Name a wallet of your own.";
    WebhookTarget, "webhook_target", UNPROCESSABLE_ENTITY, false, "The URL cannot be a webhook's",
        "Events are delivered to https URLs at public addresses. The detail says what is wrong with this one; in \
         development the operator can allow others in the configuration.";
    SpendLimit, "spend_limit", TOO_MANY_REQUESTS, true, "The key has reached its spend limit",
        "The owner bounds what a key of a game server takes out of players' accounts in a minute, and what it moves into \
         them. The same request may succeed in a minute.";

    // The state of the service.
    RateLimited, "rate_limited", TOO_MANY_REQUESTS, true, "Too many requests",
        "Wait as long as the header `Retry-After` says. Games send many operations in one batch.";
    Busy, "busy", SERVICE_UNAVAILABLE, true, "The ledger is busy",
        "The queue is full. Nothing was changed; send the same request again after `Retry-After` seconds.";
    Unavailable, "unavailable", SERVICE_UNAVAILABLE, true, "The books are out of reach",
        "The books are being opened, moved to another node, or their database is out of reach. Nothing was changed; \
         send the same request again.";
    StorageFull, "storage_full", SERVICE_UNAVAILABLE, true, "The disk of the books is full",
        "Nothing was changed. The operator must make room.";
    OutcomeUnknown, "outcome_unknown", SERVICE_UNAVAILABLE, true, "It is not known whether the request took effect",
        "It may have taken effect, or may still do so. Send the same request with the same key: the answer then says \
         what happened, and nothing happens twice.";
    ResponseTooLarge, "response_too_large", INTERNAL_SERVER_ERROR, false, "The answer is too large to be delivered",
        "The books have decided the request, but the answer does not fit between two nodes of the service. A change has \
         taken effect: read the accounts, and divide the next batch. Ask for a shorter page of a list.";
    BooksDamaged, "books_damaged", SERVICE_UNAVAILABLE, false, "The books are damaged",
        "The service does not answer from books that are not what it has written. The operator runs `bankroll doctor`.";
    Internal, "internal", INTERNAL_SERVER_ERROR, false, "The service has an error",
        "This is a bug. The request id finds the line in the log of the service.";
}
