//! The arguments of `rows_sum` and what it makes of them, as in our own fixture.

use serde::Deserialize;

#[derive(Deserialize)]
pub struct Rows {
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    id: u64,
    name: String,
    active: bool,
    score: f64,
    tags: Vec<String>,
    pos: Position,
    note: Option<String>,
}

#[derive(Deserialize)]
struct Position {
    lat: f64,
    lon: f64,
    alt: Option<f64>,
}

impl Rows {
    pub fn sum(&self) -> String {
        let rows = &self.rows;
        let ids = rows.iter().fold(0_u64, |sum, row| sum.wrapping_add(row.id));
        let active = rows.iter().filter(|row| row.active).count();
        let score: f64 = rows.iter().map(|row| row.score).sum();
        let tags: usize = rows.iter().map(|row| row.tags.len()).sum();
        let noted = rows.iter().filter(|row| row.note.is_some()).count();
        let names: usize = rows.iter().map(|row| row.name.len()).sum();
        let height: f64 = rows.iter().filter_map(|row| row.pos.alt).sum();
        let north = rows.iter().filter(|row| row.pos.lat > 0.0 && row.pos.lon.is_finite()).count();
        format!(
            "rows={} ids={ids} active={active} score={score} tags={tags} notes={noted} \
             name_bytes={names} north={north} height={height}",
            rows.len()
        )
    }
}
