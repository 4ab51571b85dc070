//! The balances at the block, as every provider says them.

use bankroll_chains_evm::{AnswerSource, Answers, B256, BlockTag, Providers, Quantity, RpcNode, U256};

use super::{
    books_side::{BooksAtBlock, WalletAsset},
    terms::WalletBalance,
};

/// Why a balance is not known: that is neither a difference nor none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BalanceUnknown {
    #[error("no provider says what {wallet} has at block {block}: {why}")]
    NoAnswer { wallet: String, block: u64, why: String },
    #[error("the providers disagree about the balance of {wallet} at block {block}: {}", answers.join(", "))]
    Disagree { wallet: String, block: u64, answers: Vec<String> },
    #[error("no provider has block {block}")]
    NoBlock { block: u64 },
}

/// One wallet and asset, compared or not known.
pub type ReconciledWallet = (WalletAsset, Result<WalletBalance, BalanceUnknown>);

/// Compares every wallet of a chain at its block. Returns that block, too.
///
/// # Errors
/// If the providers do not have the older block that is asked for.
pub fn reconcile_at(
    providers: &Providers,
    milliseconds: u64,
    books: &BooksAtBlock,
) -> Result<((u64, B256), Vec<ReconciledWallet>), BalanceUnknown> {
    let (number, hash) = match books.at {
        None => (books.cursor.number, books.cursor.hash),
        Some(block) => {
            let ask = |node: &RpcNode| node.header(BlockTag::Number(block));
            let found = providers.ask(milliseconds, AnswerSource::Node, ask).ok().and_then(|(header, _)| header);
            (block, found.ok_or(BalanceUnknown::NoBlock { block })?.hash)
        }
    };
    let compared = |wallet: &WalletAsset| {
        let on_chain = balance(providers, milliseconds, wallet, number, hash);
        (wallet.clone(), on_chain.map(|on_chain| WalletBalance { on_chain, terms: wallet.terms.clone() }))
    };
    Ok(((number, hash), books.wallets.iter().map(compared).collect()))
}

fn balance(
    providers: &Providers,
    milliseconds: u64,
    wallet: &WalletAsset,
    block: u64,
    hash: B256,
) -> Result<U256, BalanceUnknown> {
    let at = BlockTag::Hash(hash);
    let answers: Answers<Quantity> = match wallet.token {
        None => providers.ask_all(milliseconds, AnswerSource::Node, |node| node.balance(wallet.address, at)),
        Some(token) => providers
            .ask_all(milliseconds, AnswerSource::Contract, |node| node.token_balance(token, wallet.address, at)),
    };
    let name = || wallet.address.to_string();
    if answers.is_contradictory() {
        let answers = answers.given.into_iter().map(|(provider, said)| format!("{provider} says {said}")).collect();
        return Err(BalanceUnknown::Disagree { wallet: name(), block, answers });
    }
    match answers.given.first() {
        Some((_, said)) => Ok(said.units()),
        None => {
            let why = answers.failed.first().map_or_else(|| "none answers".to_owned(), |(_, error)| error.to_string());
            Err(BalanceUnknown::NoAnswer { wallet: name(), block, why })
        }
    }
}
