//! Fictional movies and theaters, from which a cinema is made.

pub(super) struct MovieEntry {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) genre: &'static str,
    pub(super) synopsis: &'static str,
}

pub(super) struct TheaterEntry {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    pub(super) street: &'static str,
}

const fn title(
    id: &'static str,
    title: &'static str,
    genre: &'static str,
    synopsis: &'static str,
) -> MovieEntry {
    MovieEntry {
        id,
        title,
        genre,
        synopsis,
    }
}

const fn house(id: &'static str, name: &'static str, street: &'static str) -> TheaterEntry {
    TheaterEntry { id, name, street }
}

pub(super) const TITLES: [MovieEntry; 18] = [
    title(
        "lighthouse-on-wheels",
        "Lighthouse on Wheels",
        "Comedy",
        "Two sisters inherit a lighthouse, and the only buyer lives four hundred kilometres from the sea.",
    ),
    title(
        "the-tin-cartographer",
        "The Tin Cartographer",
        "Science fiction",
        "A surveying robot draws a valley that is on no other map, and then sets out for it.",
    ),
    title(
        "nine-minutes-of-rain",
        "Nine Minutes of Rain",
        "Drama",
        "A ferry waits out a storm, and eleven strangers have to decide who goes ashore first.",
    ),
    title(
        "borrowed-thunder",
        "Borrowed Thunder",
        "Action",
        "A sound engineer hears on an old tape where a stolen train will stop next.",
    ),
    title(
        "the-understudys-ghost",
        "The Understudy's Ghost",
        "Mystery",
        "Every night somebody plays the last act better than the actor who was hired for it.",
    ),
    title(
        "pickle-and-the-moon",
        "Pickle and the Moon",
        "Family",
        "A hedgehog who cannot sleep writes to the moon and, to everyone's surprise, gets an answer.",
    ),
    title(
        "cold-harvest",
        "Cold Harvest",
        "Thriller",
        "The last orchard of the north blooms in December, and nobody will say who planted it.",
    ),
    title(
        "a-waltz-for-kiosk-seven",
        "A Waltz for Kiosk Seven",
        "Romance",
        "She sells newspapers, he returns them unread. One day he forgets to.",
    ),
    title(
        "the-salt-index",
        "The Salt Index",
        "Documentary",
        "One grain of salt, followed from a dry lake to a table, with everyone who touched it.",
    ),
    title(
        "grandmother-goes-offside",
        "Grandmother Goes Offside",
        "Comedy",
        "A village team has ten players, one match to win, and a seventy-year-old with a whistle.",
    ),
    title(
        "quiet-as-copper",
        "Quiet as Copper",
        "Thriller",
        "A locksmith opens a safe for the police and recognises his own handwriting inside.",
    ),
    title(
        "orbit-of-small-things",
        "Orbit of Small Things",
        "Science fiction",
        "The crew of a repair ship finds a kitchen garden floating where no ship has been.",
    ),
    title(
        "the-paper-regatta",
        "The Paper Regatta",
        "Animation",
        "Boats folded from letters race down a gutter to reach the people they were meant for.",
    ),
    title(
        "house-of-second-clocks",
        "House of Second Clocks",
        "Horror",
        "All clocks in the house are right. They only count something else.",
    ),
    title(
        "marzipan-heist",
        "The Marzipan Heist",
        "Comedy",
        "Four pastry cooks plan the perfect robbery of a cake, and it is their own.",
    ),
    title(
        "the-bridge-keepers-year",
        "The Bridge Keeper's Year",
        "Drama",
        "Twelve months, one drawbridge, and the woman who decides when the river may pass.",
    ),
    title(
        "velvet-static",
        "Velvet Static",
        "Music",
        "A band that broke up on live radio is still being listened to, very far away.",
    ),
    title(
        "badgers-at-the-gate",
        "Badgers at the Gate",
        "Family",
        "The garden has been sold. The badgers have read the contract.",
    ),
];

pub(super) const HOUSES: [TheaterEntry; 8] = [
    house("quay", "The Quay", "Ropewalk"),
    house("lantern", "Lantern Picture House", "Lantern Lane"),
    house("old-dairy", "Old Dairy Cinema", "Buttermarket"),
    house("corona", "Corona", "Observatory Road"),
    house("tram-depot", "Tram Depot 4", "Depot Street"),
    house("winter-garden", "Winter Garden", "Palm Court"),
    house("rialto-north", "Rialto North", "Northgate"),
    house("cellar", "The Cellar Screen", "Coopers Yard"),
];
