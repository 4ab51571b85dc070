//! The shuffles of a hand, one after the other.
//!
//! The first shuffler starts from the deck that each party computes, each next one from the deck before it, in the
//! order of the hand's keys, each once. A message carries the hash of the deck it started from, the new deck and the
//! proof; the order of the cards and the randomness never leave [`UnprovenShuffle`].
//!
//! Who signed a message, and when the next is late, is not known here.

use rand_core::{CryptoRng, CryptoRngCore, RngCore};

use crate::{
    Context, ContextDigest, Curve, Deck, DeckDecodeError, HandKeys, Parameters, PublicKey, ShuffleError, ShuffleProof,
    codec::ByteReader,
    shuffle::{ShuffleStep, Witness, prove, shuffle, verify_shuffles},
};

/// What a shuffler publishes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShuffleMessage<C: Curve> {
    /// The hash of the deck it started from.
    pub input: ContextDigest,
    pub deck: Deck<C>,
    pub proof: ShuffleProof<C>,
}

impl<C: Curve> ShuffleMessage<C> {
    /// The hash, the deck, the proof.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = self.input.to_vec();
        self.deck.put(&mut bytes);
        self.proof.put(&mut bytes);
        bytes
    }

    /// How many bytes a message about so many cards takes.
    #[must_use]
    pub fn encoded_bytes(size: usize) -> usize {
        let parts =
            [size_of::<ContextDigest>(), Deck::<C>::encoded_bytes(size), ShuffleProof::<C>::encoded_bytes(size)];
        parts.into_iter().fold(0, usize::saturating_add)
    }

    /// Reads a message about so many cards.
    ///
    /// # Errors
    /// If the bytes are not the one encoding of such a message.
    pub fn decode(bytes: &[u8], size: usize) -> Result<Self, DeckDecodeError> {
        let mut reader = ByteReader::exactly(bytes, Self::encoded_bytes(size))?;
        let input = reader.bytes()?;
        Ok(Self { input, deck: Deck::read(&mut reader, size)?, proof: ShuffleProof::read(&mut reader, size)? })
    }
}

/// A shuffle that waits for its proof. It holds the order of the cards and never returns it.
pub struct UnprovenShuffle<C: Curve> {
    context: Context,
    key: PublicKey<C>,
    input: Deck<C>,
    hash: ContextDigest,
    output: Deck<C>,
    witness: Witness<C>,
}

impl<C: Curve> UnprovenShuffle<C> {
    /// Proves it; the order is forgotten with `self`.
    pub fn prove(&self, parameters: &Parameters<C>, rng: &mut (impl CryptoRng + RngCore)) -> ShuffleMessage<C> {
        C::prove_shuffle(self, parameters, rng)
    }
}

pub(crate) fn prove_shuffle<C: Curve>(
    shuffle: &UnprovenShuffle<C>,
    parameters: &Parameters<C>,
    mut rng: &mut dyn CryptoRngCore,
) -> ShuffleMessage<C> {
    let UnprovenShuffle { context, key, input, hash, output, witness } = shuffle;
    let proof = prove(parameters, context, key, [input, output], witness, &mut rng);
    ShuffleMessage { input: *hash, deck: output.clone(), proof }
}

/// A shuffle that was checked for one step on one deck of one hand; see [`Shuffling::check`].
#[derive(Clone, Debug)]
pub struct ProvenShuffle<C: Curve> {
    keys: HandKeys<C>,
    step: u8,
    input: ContextDigest,
    deck: Deck<C>,
}

/// How far the shuffling of a hand has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shuffling<C: Curve> {
    keys: HandKeys<C>,
    deck: Deck<C>,
    hash: ContextDigest,
    step: u8,
}

impl<C: Curve> Shuffling<C> {
    /// No shuffler has shuffled yet.
    #[must_use]
    pub fn new(parameters: &Parameters<C>, keys: &HandKeys<C>) -> Self {
        let deck = parameters.first_deck();
        Self { keys: keys.clone(), hash: deck.hash(), deck, step: 0 }
    }

    /// The index of the shuffler whose turn it is; none when all have shuffled.
    #[must_use]
    pub fn next(&self) -> Option<u8> {
        (usize::from(self.step) < self.keys.shufflers().len()).then_some(self.step)
    }

    #[must_use]
    pub const fn keys(&self) -> &HandKeys<C> {
        &self.keys
    }

    #[must_use]
    pub const fn deck(&self) -> &Deck<C> {
        &self.deck
    }

    /// The final deck, once all have shuffled.
    #[must_use]
    pub fn finished(self) -> Option<Deck<C>> {
        self.next().is_none().then_some(self.deck)
    }

    /// Shuffles as the shuffler whose turn it is, and proves it; none when all have.
    pub fn shuffle(
        &self,
        parameters: &Parameters<C>,
        rng: &mut (impl CryptoRng + RngCore),
    ) -> Option<ShuffleMessage<C>> {
        Some(self.shuffle_unproven(rng)?.prove(parameters, rng))
    }

    /// Shuffles as the shuffler whose turn it is, and leaves the proof for later; none when all have.
    pub fn shuffle_unproven(&self, rng: &mut (impl CryptoRng + RngCore)) -> Option<UnprovenShuffle<C>> {
        C::shuffle(self, rng)
    }

    /// Checks the message of the shuffler whose turn it is against a state that may be a copy, on any thread;
    /// [`Shuffling::take`] then needs no more mathematics.
    ///
    /// # Errors
    /// If it is wrong.
    pub fn check(
        &self,
        parameters: &Parameters<C>,
        message: &ShuffleMessage<C>,
    ) -> Result<ProvenShuffle<C>, ShuffleError> {
        let mut after = self.clone();
        after.accept(parameters, message)?;
        Ok(ProvenShuffle { keys: self.keys.clone(), step: self.step, input: self.hash, deck: after.deck })
    }

    /// Checks the messages of the next shufflers, all at once, against a state that may be a copy.
    ///
    /// # Errors
    /// If any is wrong, the first such is named by its step in the hand.
    pub fn check_all(
        &self,
        parameters: &Parameters<C>,
        messages: &[ShuffleMessage<C>],
    ) -> Result<Vec<ProvenShuffle<C>>, ShuffleError> {
        self.clone().accept_all(parameters, messages)?;
        let proven = |(step, message): (u8, &ShuffleMessage<C>)| ProvenShuffle {
            keys: self.keys.clone(),
            step,
            input: message.input,
            deck: message.deck.clone(),
        };
        Ok((self.step..).zip(messages).map(proven).collect())
    }

    /// Takes a shuffle that was checked before, if it is still this shuffle's turn on this deck.
    ///
    /// # Errors
    /// If it is not; then nothing has changed.
    pub fn take(&mut self, proven: ProvenShuffle<C>) -> Result<(), ShuffleError> {
        let step = usize::from(self.step);
        if (proven.step, proven.input) != (self.step, self.hash) {
            return Err(ShuffleError::WrongInput { step });
        }
        if proven.keys != self.keys {
            return Err(ShuffleError::NotProven { step });
        }
        (self.hash, self.deck, self.step) = (proven.deck.hash(), proven.deck, self.step.saturating_add(1));
        Ok(())
    }

    /// Takes the message of the shuffler whose turn it is.
    ///
    /// # Errors
    /// If it is wrong; then nothing has changed.
    pub fn accept(&mut self, parameters: &Parameters<C>, message: &ShuffleMessage<C>) -> Result<(), ShuffleError> {
        self.accept_all(parameters, std::slice::from_ref(message))
    }

    /// Takes the messages of the next shufflers, all checked at once.
    ///
    /// # Errors
    /// If any is wrong, the first such is named by its step in the hand; then nothing has changed.
    pub fn accept_all(
        &mut self,
        parameters: &Parameters<C>,
        messages: &[ShuffleMessage<C>],
    ) -> Result<(), ShuffleError> {
        let first = usize::from(self.step);
        let mut refused = Ok(());
        let (mut hash, mut contexts, mut step) = (self.hash, Vec::new(), self.step);
        for message in messages {
            let Some(context) = self.keys.shuffle_context(step) else {
                refused = Err(ShuffleError::NoSuchStep { step: usize::from(step) });
                break;
            };
            if message.input != hash {
                refused = Err(ShuffleError::WrongInput { step: usize::from(step) });
                break;
            }
            contexts.push(context);
            hash = message.deck.hash();
            step = step.saturating_add(1);
        }
        let mut steps = Vec::new();
        for (context, ShuffleMessage { deck: output, proof, .. }) in contexts.iter().zip(messages) {
            steps.push(ShuffleStep { context, output, proof });
        }
        verify_shuffles(parameters, self.keys.aggregate(), &self.deck, &steps).map_err(|error| error.after(first))?;
        refused?;
        if let Some(last) = messages.last() {
            (self.deck, self.hash, self.step) = (last.deck.clone(), hash, step);
        }
        Ok(())
    }
}

pub(crate) fn shuffle_unproven<C: Curve>(
    shuffling: &Shuffling<C>,
    mut rng: &mut dyn CryptoRngCore,
) -> Option<UnprovenShuffle<C>> {
    let Shuffling { keys, deck, hash, step } = shuffling;
    let context = keys.shuffle_context(*step)?;
    let witness = Witness::random(deck.cards().len(), &mut rng);
    let key = *keys.aggregate();
    let output = shuffle(&key, deck, &witness);
    Some(UnprovenShuffle { context, key, input: deck.clone(), hash: *hash, output, witness })
}
