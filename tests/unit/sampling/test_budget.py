"""Epochs: numbered, shared, and a function of the past only."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from monitor.errors import ConfigurationError, DatabaseUnavailable
from monitor.records import SamplingEpoch, Stratum
from monitor.sampling.budget import BudgetPolicy, EpochBook, first_epoch, next_epoch

START = datetime(2025, 3, 4, tzinfo=UTC)
HOUR = timedelta(hours=1)
OLD = Stratum(service="s", model="old", category="")
RARE = Stratum(service="s", model="rare", category="")


class Store:
    """Epochs in memory, shared by the fronts of a test."""

    def __init__(self):
        self.epochs = []
        self.counts = {}
        self.down = False

    def latest(self):
        return self.epochs[-1] if self.epochs else None

    def open(self, epoch):
        if epoch.number != len(self.epochs) + 1:
            return False
        self.epochs.append(epoch)
        return True

    def add_arrivals(self, epoch, front, counts):
        if self.down:
            raise DatabaseUnavailable
        mine = self.counts.setdefault(epoch, {})
        for stratum, number in counts.items():
            mine[stratum] = mine.get(stratum, 0) + number

    def arrivals(self, epoch):
        return self.counts.get(epoch, {})


class Front:
    """One replica: its arrivals, its clock and its book."""

    def __init__(self, store, policy, name="front"):
        self.now = START
        self.seconds = 0.0
        self.arrived = {}
        self.book = EpochBook(
            store=store,
            front=name,
            policy=policy,
            clock=lambda: self.now,
            arrivals=self.take,
            monotonic=lambda: self.seconds,
        )

    def take(self):
        taken, self.arrived = self.arrived, {}
        return taken


def previous(number=4, **options):
    return SamplingEpoch(
        number=number,
        starts_at=START - HOUR,
        ends_at=START,
        rates=options.get("rates", {}),
        default_rate=options.get("default_rate", 1.0),
    )


def test_first_epoch_is_short_and_at_the_ceiling():
    """Nothing is known yet, and a wrong guess has to end soon."""
    epoch = first_epoch(BudgetPolicy(ceiling=0.5, records_per_hour=10), START)
    assert (epoch.number, epoch.default_rate) == (1, 0.5)
    assert epoch.ends_at - epoch.starts_at == timedelta(minutes=5)


def test_rates_follow_past_arrivals():
    """By hand: √900 : √100 of 100 without a floor: 75/900 and 25/100."""
    policy = BudgetPolicy(records_per_hour=100, minimum_share=0.0)
    epoch = next_epoch(previous(), [{OLD: 900.0, RARE: 100.0}], policy, START)
    assert epoch.rates == pytest.approx({OLD: 75 / 900, RARE: 0.25})
    assert (epoch.number, epoch.starts_at, epoch.ends_at) == (5, START, START + HOUR)


def test_unseen_stratum_that_takes_over_all_traffic_keeps_the_budget():
    """A new release renames the model, and with it the stratum, of everything: 100 of 1000."""
    policy = BudgetPolicy(records_per_hour=100)
    epoch = next_epoch(previous(), [{OLD: 1000.0}], policy, START)
    assert epoch.default_rate * 1000 == pytest.approx(100)


def test_busiest_past_epoch_counts():
    """An average would break the budget whenever the night is followed by a day."""
    policy = BudgetPolicy(records_per_hour=100)
    epoch = next_epoch(previous(), [{OLD: 2000.0}, {OLD: 200.0}], policy, START)
    assert epoch.rates[OLD] * 2000 == pytest.approx(100)


def test_idle_epochs_leave_the_rates_as_they_were():
    """Silence teaches nothing about the traffic that ends it."""
    before = previous(rates={OLD: 0.1}, default_rate=0.05)
    epoch = next_epoch(before, [{}, {}], BudgetPolicy(records_per_hour=100), START)
    assert (epoch.rates, epoch.default_rate) == ({OLD: 0.1}, 0.05)


def test_without_budget_everything_is_at_the_ceiling():
    """`sampling.rate` alone decides."""
    epoch = next_epoch(previous(), [{OLD: 1e6}], BudgetPolicy(ceiling=0.3), START)
    assert (epoch.rates, epoch.default_rate) == ({OLD: 0.3}, 0.3)


def test_order_of_arrivals_does_not_matter():
    """Replicas read them in different orders and have to propose the same."""
    policy = BudgetPolicy(records_per_hour=7)
    one = next_epoch(previous(), [{OLD: 90.0, RARE: 11.0}], policy, START)
    two = next_epoch(previous(), [{RARE: 11.0, OLD: 90.0}], policy, START)
    assert one == two


def test_replicas_share_the_epoch_that_was_opened_first():
    """Two replicas that see an epoch end at once must not use different rates."""
    store, policy = Store(), BudgetPolicy(records_per_hour=60)
    one, two = Front(store, policy, "one"), Front(store, policy, "two")
    first = one.book.advance()
    assert two.book.advance() == first
    one.arrived, two.arrived = {1: {OLD: 30}}, {1: {OLD: 20}}
    two.book.flush()
    one.now = two.now = first.ends_at
    opened = one.book.advance()
    assert two.book.advance() == opened == store.epochs[1]
    # 50 in five minutes are 600 an hour, of which 60 may be scored.
    assert opened.rates[OLD] == pytest.approx(0.1)


def test_replica_that_comes_second_reads_the_winner():
    """`open` answers False where another appended the number between our read and write."""
    store, policy = Store(), BudgetPolicy()
    front = Front(store, policy)
    rival = first_epoch(policy, START - timedelta(seconds=1))
    honest = store.open

    def raced(epoch):
        honest(rival)
        return honest(epoch)

    store.open = raced
    assert front.book.advance() == rival
    assert store.epochs == [rival]


def test_epoch_stays_until_it_ends():
    """The job runs more often than epochs change."""
    front = Front(Store(), BudgetPolicy())
    first = front.book.advance()
    front.now = first.ends_at - timedelta(microseconds=1)
    assert front.book.advance() == first


def test_lowered_rate_applies_at_once_and_stays_where_nothing_arrives():
    """Whoever lowers it after a restart wants less load now, and a quiet night must not bring the
    old rate back."""
    store = Store()
    store.open(previous(1, rates={OLD: 0.75, RARE: 0.02}, default_rate=1.0))
    front = Front(store, BudgetPolicy(ceiling=0.05))
    front.now = START - timedelta(seconds=1)
    running = front.book.advance()
    front.now = START
    following = front.book.advance()
    assert (running.number, following.number) == (1, 2)
    for epoch in (running, following):
        assert (epoch.rates, epoch.default_rate) == ({OLD: 0.05, RARE: 0.02}, 0.05)


def test_arrivals_are_those_of_the_length_that_their_epoch_had():
    """After epochs were made longer, five minutes of traffic must not pass for an hour of it: the
    budget would be spent twelve times over."""
    store = Store()
    store.open(previous(1))
    store.open(replace(previous(2), starts_at=START - timedelta(minutes=5)))
    front = Front(store, BudgetPolicy(records_per_hour=60, epoch_length=HOUR))
    front.arrived = {2: {OLD: 10}}  # 120 an hour
    assert front.book.advance().rates == {OLD: pytest.approx(0.5)}


def test_epoch_ends_although_the_clock_was_set_back():
    """Rates that hold for hours longer would break the budget as soon as traffic rises."""
    front = Front(Store(), BudgetPolicy())
    front.book.advance()
    front.now -= HOUR
    for front.seconds in (5.0, 595.0):
        assert front.book.advance().number == 1
    front.seconds = 605.0
    epoch = front.book.advance()
    assert (epoch.number, epoch.starts_at) == (2, START - HOUR)
    assert front.book.advance() == epoch


def test_arrivals_that_the_store_refused_are_added_later_once():
    """A database outage must not make traffic look rarer than it was."""
    store = Store()
    front = Front(store, BudgetPolicy())
    front.arrived, store.down = {1: {OLD: 3}}, True
    with pytest.raises(DatabaseUnavailable):
        front.book.flush()
    front.arrived, store.down = {1: {OLD: 2, RARE: 1}}, False
    front.book.flush()
    front.book.flush()
    assert store.counts == {1: {OLD: 5, RARE: 1}}


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({"ceiling": 0.0}, r"sampling\.rate"),
        ({"ceiling": 1.1}, r"sampling\.rate"),
        ({"records_per_hour": 0.0}, r"records_per_hour"),
        ({"minimum_share": 2.0}, "minimum_share"),
        ({"epoch_length": timedelta(0)}, "epoch_seconds"),
    ],
)
def test_impossible_policy_is_refused_naming_the_key(options, key):
    """The message has to name the key as the configuration file writes it."""
    with pytest.raises(ConfigurationError, match=key):
        BudgetPolicy(**options)
