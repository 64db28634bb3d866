//! A secret of `--state-key`. It is checked after the flags are read, because the text of a flag's own error repeats
//! the value.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// `ID:HEX` as given.
#[derive(Clone)]
pub(crate) struct StateKey(String);

impl StateKey {
    /// The id and the secret.
    ///
    /// # Errors
    /// What is wrong; never the secret.
    pub(crate) fn read(&self) -> Result<(&str, Vec<u8>), String> {
        let fault = "--state-key: expected ID:HEX, such as k1: and 64 hex digits, which 32 random bytes give";
        let (id, hex) = self.0.split_once(':').ok_or(fault)?;
        let digit = |byte: u8| Some(char::from(byte).to_digit(16)? as u8);
        let pair = |pair: &[u8]| match pair {
            [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
            _ => None,
        };
        let secret: Option<Vec<u8>> = hex.as_bytes().chunks(2).map(pair).collect();
        Ok((id, secret.ok_or(fault)?))
    }
}

impl FromStr for StateKey {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Debug for StateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StateKey")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_and_faults_do_not_repeat_them() {
        let key: StateKey = "k1:00ff10Ab".parse().unwrap();
        assert_eq!(key.read().unwrap(), ("k1", vec![0, 255, 16, 171]));
        assert_eq!(format!("{key:?}"), "StateKey");
        for wrong in ["5ec1e7", "k1:5ec1e", "k1:5ec1ez", "k1:5é"] {
            let fault = wrong.parse::<StateKey>().unwrap().read().unwrap_err();
            assert!(!fault.contains("5ec1e"), "{wrong}");
        }
    }
}
