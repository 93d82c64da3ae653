"""A toy corpus: postal addresses in the American manner, drawn from a small grammar with the noise of real ones.

The grammar is ours, so the corpus is free, endless and the same for the same seed. It is meant to be learnable and yet
not trivial, for the reasons that make real addresses hard: parts are missing or change places, streets are called after
towns, people and numbers, "St" is a street or a saint, "N" a direction or a flat, and many names occur only once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

Tagged = list[tuple[str, str]]  # (token, label) pairs

LABELS = (
    "Recipient",
    "AddressNumber",
    "Direction",
    "StreetName",
    "StreetType",
    "OccupancyType",
    "OccupancyId",
    "POBox",
    "PlaceName",
    "State",
    "ZipCode",
)


def words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


FIRST_NAMES = words("""
    Mary James Linda Robert Susan David Karen Ahmed Mei Carlos Olga Priya Tom Grace Peter Rosa Hugo Ines Leo Nora
    Sam Wei Yuki Omar Fatima Ivan Anna Paul Victoria Virginia Austin Jackson Madison Dakota
""")
HEADS = words("""
    Ash Oak Elm Birch Maple Cedar Stone River Lake Hill Glen Brook Wood Green White Black Red Clear Spring Win West
    East North South King Queen Fair Mill Bridge Fox Wolf Hart Raven Crow Clay Sand Marsh Thorn Rose Hazel
""")
TAILS = words("""
    ton ford field ville wood dale burg mont view land port haven ridge more worth son man er well stead side gate
    crest brook bury
""")
FAMOUS = words("""
    Washington Lincoln Jefferson Madison Jackson Franklin Adams Monroe Grant Cleveland Houston Austin Dallas
    Charlotte Virginia Florence Georgia Delaware Dakota Nevada Salem Clinton Lexington Orlando Aurora Eugene
""")
NATURE = words("""
    Main Park Church Oak Pine Maple Cedar Elm View Lake Hill River Sunset Spring Mill Center Broad Court Ridge
    Forest Meadow Garden Bay Ocean Valley Market Union Liberty Prospect Highland
""")
ADJECTIVES = words("Old New Upper Lower Big Little Fort Mount Mt St Saint San Santa Port Lake Grand Point")
ORDINALS = words("First Second Third Fourth Fifth Sixth Seventh Eighth Ninth Tenth")
STREET_TYPES = words("""
    Street St St. Avenue Ave Ave. Av Road Rd Rd. Drive Dr Dr. Lane Ln Boulevard Blvd Blvd. Court Ct Place Pl Way
    Circle Cir Terrace Ter Parkway Pkwy Square Sq Trail Trl Loop Alley Park Hill View Crossing
""")
LEADING_TYPES = (*words("Highway Hwy Route Rt Rte Via Calle Avenida Avenue Camino Rue"), "County Road")
DIRECTIONS = words("N S E W NE NW SE SW N. S. E. W. North South East West Northeast Southwest")
OCCUPANCIES = words("Apt Apt. Apartment Unit Suite Ste Ste. Floor Fl Room Rm Bldg Building Lot #")
STATES = words("""
    AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR
    PA RI SC SD TN TX UT VT VA WA WV WI WY
""")
LONG_STATES = (
    *words("Alabama Arizona California Colorado Delaware Florida Georgia Illinois Indiana Kansas Maine Nevada Ohio"),
    *words("Oregon Texas Utah Vermont Virginia Washington Wisconsin"),
    *("New York", "New Jersey", "North Carolina", "South Dakota", "West Virginia"),
)
BUSINESSES = words("""
    Bakery Dental Clinic Market Hardware Books School Library Partners Group Motors Insurance Church Hotel Pharmacy
    Center Park Association Bank
""")
COMPANY_FORMS = words("Inc Inc. LLC Co. Ltd Corp")
TITLES = words("Dr. Dr Mr. Mrs. Ms. Prof. Attn: c/o Rev.")


def make_addresses(n: int = 4000, random_state: int = 0) -> tuple[list[list[str]], list[list[str]]]:
    """Draw `n` addresses: their tokens and the label of each token. The same seed gives the same addresses."""
    rng = Random(random_state)
    addresses = [draw_address(rng) for _ in range(n)]
    return [[token for token, _ in a] for a in addresses], [[label for _, label in a] for a in addresses]


def address_items(tokens: Sequence[str]) -> list[list[str]]:
    """Describe each token of an address by attributes of its own, and by the words and shapes next to it."""
    texts = ["BOS", *(token.lower().strip(".,#") for token in tokens), "EOS"]
    shapes = ["BOS", *(token_shape(token) for token in tokens), "EOS"]
    return [
        [
            "bias",
            f"word={texts[t]}",
            f"shape={shapes[t]}",
            f"prefix={texts[t][:3]}",
            f"suffix={texts[t][-3:]}",
            f"comma={token.endswith(',')}",
            f"word[-1]={texts[t - 1]}",
            f"word[+1]={texts[t + 1]}",
            f"shape[-1]={shapes[t - 1]}",
            f"shape[+1]={shapes[t + 1]}",
        ]
        for t, token in enumerate(tokens, start=1)
    ]


def token_shape(token: str) -> str:
    """Return the shape: capitals as A, small letters as a, digits as 9, runs of letters as one: "Main," is "Aa,",
    "12BC" is "99A".
    """
    shape = ""
    for character in token:
        kind = "9" if character.isdigit() else "A" if character.isupper() else "a" if character.isalpha() else character
        if kind == "9" or not shape.endswith(kind):
            shape += kind
    return shape


def draw_address(rng: Random) -> Tagged:
    """Choose the parts and their order, join them, and wear them down as people do."""
    delivery = po_box(rng) if rng.random() < 0.08 else street_line(rng)
    parts = [delivery, place(rng)]
    if rng.random() < 0.3:
        parts.insert(0, recipient(rng))
    if rng.random() < 0.45:
        parts[:-1] = [with_comma(part) for part in parts[:-1]]
    return wear([pair for part in parts for pair in part], rng)


def street_line(rng: Random) -> Tagged:
    """Generate house number and street, with the flat after, before or nowhere."""
    line = [*house_number(rng), *street(rng)]
    chance = rng.random()
    if chance < 0.25:
        return [*(with_comma(line) if rng.random() < 0.4 else line), *occupancy(rng)]
    return [*occupancy(rng), *line] if chance < 0.3 else line


def house_number(rng: Random) -> Tagged:
    number = rng.randrange(1, 10 ** rng.choice((1, 2, 3, 3, 4, 4, 5)))
    endings = ("", rng.choice("ABCD"), f"-{rng.randrange(1, 90)}", " 1/2")
    return labeled(f"{number}{rng.choices(endings, weights=(92, 4, 2, 2))[0]}", "AddressNumber")


def street(rng: Random) -> Tagged:
    """Generate direction, name and type; sometimes the type comes first, often a part is missing."""
    if rng.random() < 0.08:
        return leading_street(rng)
    return [
        *sometimes(0.2, DIRECTIONS, "Direction", rng),
        *labeled(street_name(rng), "StreetName"),
        *sometimes(0.8, STREET_TYPES, "StreetType", rng),
        *sometimes(0.12, DIRECTIONS, "Direction", rng),
    ]


def leading_street(rng: Random) -> Tagged:
    """Generate a street that begins with its type: Highway 7, Via Ashford, Avenue B."""
    names = (str(rng.randrange(1, 300)), composed_name(rng), rng.choice("ABCDE"))
    name = rng.choices(names, weights=(60, 20, 20))[0]
    return labeled(rng.choice(LEADING_TYPES), "StreetType") + labeled(name, "StreetName")


def sometimes(chance: float, choices: Sequence[str], label: str, rng: Random) -> Tagged:
    return labeled(rng.choice(choices), label) if rng.random() < chance else []


def street_name(rng: Random) -> str:
    makers: tuple[Callable[[], str], ...] = (
        lambda: rng.choice(NATURE),
        lambda: rng.choice(FAMOUS),
        lambda: composed_name(rng),
        lambda: ordinal(rng.randrange(1, 130)),
        lambda: rng.choice(ORDINALS),
        lambda: f"{rng.choice(ADJECTIVES)} {rng.choice(NATURE)}",
        lambda: f"{rng.choice(NATURE)} {rng.choice(NATURE)}",
        lambda: f"{rng.choice(FIRST_NAMES)} {composed_name(rng)}",
        lambda: rng.choice(("Broadway", "Martin Luther King Jr", "North", "South", "West End", "Avenue of the Oaks")),
    )
    return rng.choices(makers, weights=(20, 14, 22, 12, 4, 8, 10, 6, 4))[0]()


def occupancy(rng: Random) -> Tagged:
    number = str(rng.randrange(1, 10 ** rng.choice((1, 2, 3))))
    identifier = rng.choice((number, number, number + rng.choice("ABCD"), rng.choice("ABCDENSW"), f"{number}-A"))
    if rng.random() < 0.2:
        return labeled(f"#{identifier}", "OccupancyId")
    return labeled(rng.choice(OCCUPANCIES), "OccupancyType") + labeled(identifier, "OccupancyId")


def po_box(rng: Random) -> Tagged:
    return labeled(f"{rng.choice(('PO Box', 'P.O. Box', 'P O Box', 'POB', 'Box'))} {rng.randrange(1, 9999)}", "POBox")


def place(rng: Random) -> Tagged:
    """Generate town, state and ZIP code, one of which may be missing."""
    missing = rng.choices(("", "PlaceName", "State", "ZipCode"), weights=(80, 4, 6, 10))[0]
    town = labeled(town_name(rng), "PlaceName")
    state = rng.choice(STATES) if rng.random() < 0.8 else rng.choice(LONG_STATES)
    zip_code = f"{rng.randrange(501, 99951):05d}" + (f"-{rng.randrange(1, 9999):04d}" if rng.random() < 0.15 else "")
    parts = [with_comma(town) if rng.random() < 0.5 else town, labeled(state, "State"), labeled(zip_code, "ZipCode")]
    return [(token, label) for part in parts for token, label in part if label != missing]


def town_name(rng: Random) -> str:
    name = rng.choice(FAMOUS) if rng.random() < 0.25 else composed_name(rng)
    before = rng.choices(("", rng.choice(ADJECTIVES), rng.choice(DIRECTIONS)), weights=(78, 12, 10))[0]
    after = rng.choice(("City", "Park", "Falls", "Hills", "Beach", "Springs")) if rng.random() < 0.1 else ""
    return f"{before} {name} {after}"


def recipient(rng: Random) -> Tagged:
    return labeled(person(rng) if rng.random() < 0.5 else business(rng), "Recipient")


def person(rng: Random) -> str:
    title = rng.choice(TITLES) if rng.random() < 0.35 else ""
    initial = f"{rng.choice('ABCDEFGHJKLMPRSTW')}." if rng.random() < 0.3 else ""
    return f"{title} {rng.choice(FIRST_NAMES)} {initial} {composed_name(rng)}"


def business(rng: Random) -> str:
    """Generate a firm or a club, often named after a town, a street or its founder."""
    names = (composed_name(rng), rng.choice(FAMOUS), f"{rng.choice(NATURE)} Street", f"{composed_name(rng)} & Sons")
    form = rng.choice(COMPANY_FORMS) if rng.random() < 0.3 else ""
    return f"{rng.choice(names)} {rng.choice(BUSINESSES)} {form}"


def composed_name(rng: Random) -> str:
    """Generate a name such as Ashford: of 1,000 names, so that a held-out address often has an unseen one."""
    return rng.choice(HEADS) + rng.choice(TAILS)


def ordinal(number: int) -> str:
    teen = 10 < number % 100 < 14
    return f"{number}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def labeled(words: str, label: str) -> Tagged:
    return [(word, label) for word in words.split()]


def with_comma(part: Tagged) -> Tagged:
    *head, (token, label) = part
    return [*head, (f"{token},", label)]


def wear(address: Tagged, rng: Random) -> Tagged:
    """Add everyday noise: all capitals, all small letters, no punctuation, typing errors."""
    rewrite = rng.choices((str, str.upper, str.lower, unpunctuated), weights=(55, 20, 12, 13))[0]
    return [(rewrite(mistyped(token, rng) if rng.random() < 0.06 else token), label) for token, label in address]


def unpunctuated(token: str) -> str:
    return token.rstrip(".,:") or token


def mistyped(token: str, rng: Random) -> str:
    """Drop, double or swap one letter of a word that is long enough to stay readable."""
    if len(token) < 4:
        return token
    t = rng.randrange(1, len(token) - 2)
    here, next_one = token[t], token[t + 1]
    return token[:t] + rng.choice((next_one, here + here + next_one, next_one + here)) + token[t + 2 :]
