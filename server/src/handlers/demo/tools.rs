//! The tools of the demonstration: plain ones, one with a structured result, one with progress, one that asks back.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use ringmcp::types::ElicitForm;
use ringmcp::{Builder, Context, Structured, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most dice in one throw.
const DICE_MAX: u32 = 100;

/// The longest countdown, in steps.
const COUNTDOWN_MAX: u32 = 100;

/// Between two steps of a countdown.
const COUNTDOWN_STEP: Duration = Duration::from_millis(200);

pub(super) fn add(builder: Builder) -> Builder {
    builder
        .tool("greet", "Greets someone by name", greet)
        .tool("add", "Adds two numbers", add_numbers)
        .tool("roll_dice", "Throws dice", roll_dice)
        .tool("countdown", "Counts down slowly and reports its progress", countdown)
        .tool("book_table", "Pretends to book a table; asks you for how many", book_table)
}

#[derive(Deserialize, JsonSchema)]
struct Greet {
    /// Who is greeted.
    name: String,
}

async fn greet(_: &Context<'_>, args: Greet) -> Result<String, ToolError> {
    Ok(format!("Hello, {}!", args.name))
}

#[derive(Deserialize, JsonSchema)]
struct Add {
    /// The first number.
    a: f64,
    /// The second number.
    b: f64,
}

async fn add_numbers(_: &Context<'_>, Add { a, b }: Add) -> Result<f64, ToolError> {
    Ok(a + b)
}

#[derive(Deserialize, JsonSchema)]
struct Roll {
    /// How many dice; one if left out.
    #[schemars(range(min = 1, max = 100))]
    dice: Option<u32>,
    /// Sides of each die; six if left out.
    #[schemars(range(min = 2, max = 1000))]
    sides: Option<u32>,
}

/// A throw of dice.
#[derive(Serialize, JsonSchema)]
struct Thrown {
    /// What each die shows.
    dice: Vec<u32>,
    /// All of them together.
    total: u64,
}

async fn roll_dice(_: &Context<'_>, args: Roll) -> Result<Structured<Thrown>, ToolError> {
    let sides = u64::from(args.sides.unwrap_or(6).max(1));
    // Each RandomState has other keys: random enough for a game.
    let throw = |die: u32| RandomState::new().hash_one(die) % sides + 1;
    let dice: Vec<u32> = (0..args.dice.unwrap_or(1).min(DICE_MAX))
        .filter_map(|die| u32::try_from(throw(die)).ok())
        .collect();
    let total = dice.iter().copied().map(u64::from).sum();
    Ok(Structured(Thrown { dice, total }))
}

#[derive(Deserialize, JsonSchema)]
struct Countdown {
    /// Where to begin; five steps a second.
    #[schemars(range(max = 100))]
    from: u32,
}

async fn countdown(ctx: &Context<'_>, args: Countdown) -> Result<&'static str, ToolError> {
    let steps = args.from.min(COUNTDOWN_MAX);
    for step in 0..steps {
        ctx.progress(step, steps);
        ctx.sleep(COUNTDOWN_STEP).await;
    }
    ctx.progress(steps, steps);
    Ok("Lift-off")
}

#[derive(Deserialize, JsonSchema)]
struct Book {
    /// The restaurant.
    restaurant: String,
}

async fn book_table(ctx: &Context<'_>, args: Book) -> Result<String, ToolError> {
    let form = ElicitForm::new(format!("A table at {}", args.restaurant))
        .integer("people", |field| field.minimum(1).maximum(20).required())
        .choice("when", ["noon", "evening"], |field| field.default("evening"));
    let answer = ctx.elicit("table", form)?;
    if !answer.is_accepted() {
        return Ok("No table was booked.".to_owned());
    }
    let people = answer.integer("people").unwrap_or(1);
    let when = answer.text("when").unwrap_or("evening");
    Ok(format!("Booked for {people} at {when}: {}. (Not really.)", args.restaurant))
}
