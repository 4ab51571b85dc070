//! Amounts as Postgres sends and stores them: `NUMERIC`, exact to 128 bits.

use bankroll_ledger::{Amount, ColumnValue};
use bytes::{BufMut, BytesMut};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

type BoxedError = Box<dyn std::error::Error + Sync + Send>;

/// A number below 2^128 in base 10,000: at most ten digits of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Numeric(pub u128);

const BASE: u128 = 10_000;

impl Numeric {
    /// The digits, and the place of the first of them.
    fn digits(self) -> ([i16; 10], usize) {
        let (mut rest, mut digits, mut first) = (self.0, [0; 10], 10);
        while rest > 0 {
            first -= 1;
            digits[first] = i16::try_from(rest % BASE).expect("below the base");
            rest /= BASE;
        }
        (digits, first)
    }
}

impl ToSql for Numeric {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, BoxedError> {
        let (digits, first) = self.digits();
        let digits = &digits[first..];
        let count = i16::try_from(digits.len())?;
        out.put_i16(count);
        // The weight of the first digit; sign and decimals are none.
        out.put_i16((count - 1).max(0));
        out.put_i16(0);
        out.put_i16(0);
        digits.iter().for_each(|digit| out.put_i16(*digit));
        Ok(IsNull::No)
    }

    fn accepts(ty: &Type) -> bool {
        *ty == Type::NUMERIC
    }

    to_sql_checked!();
}

impl<'a> FromSql<'a> for Numeric {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, BoxedError> {
        let (words, rest) = raw.as_chunks::<2>();
        let mut words = words.iter().map(|word| i16::from_be_bytes(*word));
        let (Some(count), Some(weight), Some(sign), Some(_)) = (words.next(), words.next(), words.next(), words.next())
        else {
            return Err("not a number".into());
        };
        if sign != 0 || !rest.is_empty() {
            return Err("not a whole number of at least zero".into());
        }
        let mut value = 0_u128;
        for digit in words.by_ref().take(usize::try_from(count)?) {
            let digit = u128::try_from(digit)?;
            value = value.checked_mul(BASE).and_then(|value| value.checked_add(digit)).ok_or("more than 128 bits")?;
        }
        // Trailing zeros are not sent, and digits after the point are a fraction.
        let missing = u32::try_from(i32::from(weight) + 1 - i32::from(count));
        let missing = if count == 0 { 0 } else { missing.map_err(|_| "a fraction")? };
        let value = BASE.checked_pow(missing).and_then(|scale| value.checked_mul(scale)).ok_or("more than 128 bits")?;
        Ok(Self(value))
    }

    fn accepts(ty: &Type) -> bool {
        *ty == Type::NUMERIC
    }
}

/// A whole number, of whatever width its column has.
pub(super) struct Integer(pub i64);

impl<'a> FromSql<'a> for Integer {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, BoxedError> {
        Ok(Self(match *ty {
            Type::INT2 => i16::from_sql(ty, raw)?.into(),
            Type::INT4 => i32::from_sql(ty, raw)?.into(),
            _ => i64::from_sql(ty, raw)?,
        }))
    }

    fn accepts(ty: &Type) -> bool {
        [Type::INT2, Type::INT4, Type::INT8].contains(ty)
    }
}

/// A flow's value, encoded for the type of its column or parameter.
#[derive(Debug)]
pub(super) struct SqlValue<'a>(pub &'a ColumnValue);

impl ToSql for SqlValue<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, BoxedError> {
        let misfit = || BoxedError::from(format!("the value is not a {ty}"));
        match (self.0, ty) {
            (ColumnValue::Null, _) => Ok(IsNull::Yes),
            (ColumnValue::Int(number), ty) if *ty == Type::INT8 => number.to_sql(ty, out),
            (ColumnValue::Int(number), ty) if *ty == Type::INT4 => i32::try_from(*number)?.to_sql(ty, out),
            (ColumnValue::Int(number), ty) if *ty == Type::INT2 => i16::try_from(*number)?.to_sql(ty, out),
            (ColumnValue::Int(number), ty) if *ty == Type::NUMERIC => Numeric(u128::try_from(*number)?).to_sql(ty, out),
            (ColumnValue::Text(text), ty) if <&str as ToSql>::accepts(ty) => text.as_str().to_sql(ty, out),
            (ColumnValue::Bytes(bytes), ty) if *ty == Type::BYTEA => bytes.to_sql(ty, out),
            (ColumnValue::Amount(amount), ty) if *ty == Type::NUMERIC => Numeric(amount.units()).to_sql(ty, out),
            _ => Err(misfit()),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A column decoded as a flow's value, as guards compare it.
pub(super) struct FlowValue(pub ColumnValue);

impl<'a> FromSql<'a> for FlowValue {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, BoxedError> {
        Ok(Self(match *ty {
            Type::INT2 | Type::INT4 | Type::INT8 => ColumnValue::Int(Integer::from_sql(ty, raw)?.0),
            Type::BOOL => ColumnValue::Int(bool::from_sql(ty, raw)?.into()),
            Type::BYTEA => ColumnValue::Bytes(raw.to_vec()),
            Type::NUMERIC => ColumnValue::Amount(Amount::new(Numeric::from_sql(ty, raw)?.0)),
            // A column of another sort reads as its bytes and fails its guard.
            _ => String::from_utf8(raw.to_vec()).map_or_else(|_| ColumnValue::Bytes(raw.to_vec()), ColumnValue::Text),
        }))
    }

    fn from_sql_null(_: &Type) -> Result<Self, BoxedError> {
        Ok(Self(ColumnValue::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there_and_back(value: u128) -> u128 {
        let mut bytes = BytesMut::new();
        Numeric(value).to_sql(&Type::NUMERIC, &mut bytes).unwrap();
        Numeric::from_sql(&Type::NUMERIC, &bytes).unwrap().0
    }

    #[test]
    fn every_amount_comes_back() {
        let edges = [0, 1, 9_999, 10_000, 10_001, 100_000_000, 10_u128.pow(38), u128::MAX - 1, u128::MAX];
        assert_eq!(edges.map(there_and_back), edges);
        for power in 0..128 {
            assert_eq!(there_and_back(1 << power), 1 << power);
        }
    }

    #[test]
    fn zeros_at_the_end_need_not_be_sent() {
        // 120,000,000: the digits 1 and 2000 of weight 2, as Postgres sends it.
        let sent: Vec<u8> = [2_i16, 2, 0, 0, 1, 2_000].into_iter().flat_map(i16::to_be_bytes).collect();
        assert_eq!(Numeric::from_sql(&Type::NUMERIC, &sent).unwrap(), Numeric(120_000_000));
    }

    #[test]
    fn negative_numbers_fractions_and_too_large_ones_are_refused() {
        let sent = |words: &[u16]| words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>();
        let negative = sent(&[1, 0, 0x4000, 0, 5]);
        let half = sent(&[1, 0xFFFF, 0, 1, 5_000]);
        let huge = sent(&[1, 10, 0, 0, 9_999]);
        for bad in [negative, half, huge, vec![0, 1]] {
            assert!(Numeric::from_sql(&Type::NUMERIC, &bad).is_err());
        }
    }
}
