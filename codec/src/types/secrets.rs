//! Which names ask for a secret: forms and URLs must not carry them (EL-02, EL-03).

/// Words that name a secret wherever they stand alone.
const WORDS: &[&str] = &[
    "apikey",
    "credential",
    "credentials",
    "cvc",
    "cvv",
    "iban",
    "jwt",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "passwords",
    "pin",
    "pwd",
    "secret",
    "secrets",
    "token",
];

/// Pairs of neighbouring words that name a secret together.
const PAIRS: &[(&str, &str)] = &[
    ("access", "key"),
    ("access", "tokens"),
    ("account", "number"),
    ("api", "key"),
    ("api", "keys"),
    ("api", "tokens"),
    ("auth", "code"),
    ("bank", "account"),
    ("card", "number"),
    ("client", "key"),
    ("credit", "card"),
    ("debit", "card"),
    ("encryption", "key"),
    ("private", "key"),
    ("recovery", "code"),
    ("security", "code"),
    ("seed", "phrase"),
    ("service", "key"),
    ("session", "key"),
    ("signing", "key"),
    ("ssh", "key"),
];

/// Whether a field or parameter of this name, or under this title, would hold a secret. Looks at whole
/// words (`apiKey`, `api_key` and `API key` are two words each), so `keyboard` and `pinned` pass.
pub(crate) fn asks_for_secret(name: &str) -> bool {
    let words = words(name);
    words.iter().any(|word| WORDS.contains(&word.as_str()))
        || words.windows(2).any(|pair| PAIRS.contains(&(pair[0].as_str(), pair[1].as_str())))
}

/// Splits at anything but letters and digits, and before an upper-case letter that follows a
/// lower-case one or starts a new word after capitals (`APIKey` is `api`, `key`).
fn words(name: &str) -> Vec<String> {
    let chars: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (at, &char) in chars.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| chars[before]);
        let starts = char.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase()
                    || (before.is_uppercase()
                        && chars.get(at + 1).is_some_and(|c| c.is_lowercase()))
            });
        if starts || !char.is_alphanumeric() {
            words.push(String::new());
        }
        if char.is_alphanumeric() {
            // `words` starts with one entry and only grows.
            let last = words.len() - 1;
            words[last].extend(char.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
