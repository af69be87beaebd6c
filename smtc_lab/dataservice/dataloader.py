"""A drop-in for ``torch.utils.data.DataLoader`` whose data workers may be on other machines."""

from __future__ import annotations

import multiprocessing
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from smtc_lab.dataservice import placement
from smtc_lab.dataservice.client.sharing import first_sharing
from smtc_lab.dataservice.client.spare_cpu import own_cores
from smtc_lab.dataservice.iterating.clients import client_of
from smtc_lab.dataservice.iterating.idle import note_use
from smtc_lab.dataservice.iterating.in_process import InProcessIterator
from smtc_lab.dataservice.iterating.iterators import IteratedLoader, ServiceIterator
from smtc_lab.dataservice.iterating.keeping import Keeping
from smtc_lab.dataservice.iterating.stream_iterators import (
    InProcessStreamIterator,
    StreamServiceIterator,
)
from smtc_lab.dataservice.of_process import HeldElsewhere, of_process
from smtc_lab.dataservice.source import can_be_served, is_map_style, source_of
from smtc_lab.dataservice.torch_names import needed
from smtc_lab.errors import DataServiceError, UnsendableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from multiprocessing.context import BaseContext

    import torch
    from torch.utils.data import Dataset, Sampler

    from smtc_lab.dataservice.placement import ServerAddress
    from smtc_lab.dataservice.recipe.packing import Recipe
    from smtc_lab.metrics.records.records import LoaderRecord
else:
    needed("torch.utils.data.dataloader:DataLoader._get_iterator")  # or ours were never called

_T_co = TypeVar("_T_co", covariant=True)


class DataLoader(IteratedLoader[_T_co]):
    """Loads batches as ``torch.utils.data.DataLoader`` does, from near and far data workers.

    It takes every argument of torch's dataloader with the same meaning: the same arguments and
    seed give the same batches in the same order. What differs:

    - Random transforms are seeded for each sample by (seed, epoch, place in the epoch), so that
      batches are bit-identical with 0, 1 or 20 data workers, on any mix of machines, and after
      any failure. torch seeds each data worker instead. Preparing batches in the trainer
      (``num_workers=0``) leaves the trainer's own random generators as they are.
    - Each sample is seen exactly once in an epoch, whatever data workers or servers end
      meanwhile: a request that was not answered is asked again elsewhere.
    - What the dataset or ``collate_fn`` raises comes as a ``SampleError`` that names the sample
      and the host, in place of the batch; iteration can go on after it.
    - From data servers come batches of the types that they know: containers, tensors, arrays,
      dataclasses, images and others, see ``smtc_lab.dataservice.batch_types``. A script may
      register more. The trainer's own data workers send whatever can be pickled.
    - ``worker_init_fn`` is called before a data worker's first batch.
    - It is copied and pickled as torch's is, also while it is iterated over. Where a pickle is
      loaded, servers, secret and what gets records are those of the default placement there.
    - All data workers see the dataset anew in each epoch, or once with
      ``persistent_workers=True``, as torch's do. Data servers are sent it again only where it
      has changed. What cannot be sent is prepared by the trainer, and told.

    An iterable-style dataset is iterated once for each of ``num_workers``, as torch does it, in
    whichever data workers; what is promised there, and its limit, is told in
    ``smtc_lab.dataservice.streams``. DataPipes get torch's own iterators, with data workers in
    the trainer only, and so does another start method than ``fork``.

    Args:
        dataset: As torch; so are all arguments up to ``in_order``. ``timeout`` (0: 60 s) is
            also the longest wait while no data server can be reached. Without
            ``prefetch_factor``, data workers are asked ahead as their speed and the size of the
            batches want it.
        num_workers: Data workers of the trainer itself; ``"auto"``: as many as the spare CPU of
            the trainer bears without holding it up, settled anew about once a second. (An
            iterable-style dataset keeps the first number of streams, which decides its
            batches.)
        servers: Data servers to ask. None: those of the default placement.
        secret: The job's secret, 32 bytes; needed with servers.
        tls: Whether to encrypt what goes between hosts; the servers must do the same. None: as
            the default placement, else not.
        num_local_workers: Data workers of the trainer itself. None: that of the default
            placement, else ``num_workers``.
        loader_name: Taken, and of no effect: data servers know a loader by what it is.
        seed: Seed of the random transforms. None: that of the default placement, else
            ``torch.initial_seed()`` when an epoch begins. Ranks above 0 mix in their rank.
        seeding: ``"sample"``: as told above. ``"torch"``: exactly torch's own, by data worker,
            for comparison with it; in the trainer's own data workers only.
        record: Gets a record for each server about twice a second.
        notify: Gets one sentence for each fault that was mended.
        journal: Gets a dict for whatever happens to a request; see ``journal.Journal``.
        allow_pickle: Whether objects of types that nobody knows come as pickles from data
            servers. Whoever controls one of those can then run code in the trainer. None: as
            the default placement, else not.

    Raises:
        DataServiceError: An argument of ours is wrong.
        ValueError: An argument of torch's is wrong.
    """

    servers = HeldElsewhere()
    secret = HeldElsewhere()
    tls = HeldElsewhere()
    allow_pickle: Any = HeldElsewhere()
    record: Any = HeldElsewhere()
    notify = HeldElsewhere()
    journal = HeldElsewhere()
    _client = HeldElsewhere()
    _keeping = HeldElsewhere()

    are_vcpus = True
    """Whether each data worker is held to one vCPU where those are emulated; without, their
    number was chosen for this machine, and they stand for all of them."""

    def __init__(  # noqa: PLR0913, PLR0917  torch's own arguments, in torch's order
        self,
        dataset: Dataset[_T_co],
        batch_size: int | None = 1,
        shuffle: bool | None = None,  # noqa: FBT001  torch's signature
        sampler: Sampler[object] | Iterable[object] | None = None,
        batch_sampler: Sampler[list[object]] | Iterable[list[object]] | None = None,
        num_workers: int | Literal["auto"] = 0,
        collate_fn: Callable[[list[object]], object] | None = None,
        pin_memory: bool = False,  # noqa: FBT001, FBT002  torch's signature
        drop_last: bool = False,  # noqa: FBT001, FBT002  torch's signature
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: BaseContext | str | None = None,
        generator: torch.Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
        servers: Sequence[ServerAddress] | None = None,
        secret: bytes | None = None,
        tls: bool | None = None,
        num_local_workers: int | None = None,
        loader_name: str | int | None = None,
        seed: int | None = None,
        seeding: Literal["sample", "torch"] = "sample",
        record: Callable[[LoaderRecord], None] | None = None,
        notify: Callable[[str], None] | None = None,
        journal: Callable[[dict[str, Any]], object] | None = None,
        allow_pickle: bool | None = None,
    ) -> None:
        default = placement.default()
        num_servers = len(default.servers if servers is None else servers)
        if num_local_workers is None:
            num_local_workers = default.num_local_workers
        self.is_auto = num_workers == "auto" and num_local_workers is None
        if isinstance(num_workers, str):
            num_workers = _first_num_workers(num_workers, has_servers=num_servers > 0)
        super().__init__(
            dataset,
            batch_size,
            shuffle,
            sampler,
            batch_sampler,
            # torch wants one at least for its other arguments to make sense.
            max(1, num_workers) if self.is_auto else num_workers,
            collate_fn,
            pin_memory,
            drop_last,
            timeout,
            worker_init_fn,
            multiprocessing_context,
            generator,
            prefetch_factor=prefetch_factor,
            persistent_workers=persistent_workers,
            pin_memory_device=pin_memory_device,
            in_order=in_order,
        )
        del loader_name
        # torch fills in 2; a user who says nothing leaves it to us.
        self.fixed_credits = prefetch_factor
        self.seed = default.seed if seed is None else seed
        self.seeding = seeding
        self._of_process = of_process(
            servers=None if servers is None else tuple(servers),
            secret=secret,
            tls=tls,
            allow_pickle=allow_pickle,
            record=record,
            notify=notify,
            journal=journal,
        )
        self._place(num_workers if num_local_workers is None else num_local_workers)
        number = placement.next_loader_number()
        if placement.has_iterated() and default.seed is not None:
            # Such loaders are made epoch by epoch, and must not draw the same transforms.
            self.epoch = number

    def _place(self, num_local_workers: int) -> None:
        """Decide where batches are made."""
        placement.check_secret(self.servers, self.secret)
        placement.check_num_local_workers(num_local_workers)
        if self.seeding == "torch" and self.servers:
            raise DataServiceError(
                "seeding='torch' numbers the trainer's own data workers, but there are "
                f"{len(self.servers)} data servers. Leave the servers out, or take "
                "seeding='sample'."
            )
        self.num_local_workers: int = num_local_workers
        self.most_local_workers = num_local_workers
        if self.is_auto:
            self.most_local_workers = max(1, int(own_cores()))

    def close(self) -> None:
        """End this loader's data workers and connections now; it can be iterated over again."""
        client, self._client = self._client, None
        self._iterator = None
        if client is not None:
            client.close()

    def __iter__(self) -> Any:  # noqa: ANN401  torch's own iterator
        """Begin a pass; data workers that persist see what changed in shared memory, too."""
        known = self._client
        if known is not None and known.recipe is not None and known.recipe.has_shared_news():
            self._iterator = None
        return super().__iter__()

    def _get_iterator(self) -> Any:  # noqa: ANN401  torch's own, under a private name
        placement.note_iteration()
        if self.seeding != "sample" or not can_be_served(self):
            return super()._get_iterator()
        stays = not self.num_workers and placement.default().keeps_in_process
        recipe = self._recipe() if self.servers and not stays else None
        num_local = self.num_local_workers
        if self.servers and recipe is None:  # as torch would
            num_local = max(num_local, self.num_workers) if self.num_workers else 0
        if self._wants_other_start_method():
            if recipe is None:
                return super()._get_iterator()
            num_local = 0  # those of data servers are what the script's would be
        is_map = is_map_style(self)
        if recipe is None and not num_local:
            return InProcessIterator(self) if is_map else InProcessStreamIterator(self)
        known = self._client
        if known is None or not known.is_usable or not _is_same(known.recipe, recipe):
            self._client = known = client_of(self, recipe, num_local, self._kept.tell)
        note_use(known)
        if recipe is not None and not self.num_workers:
            from smtc_lab.dataservice.iterating.in_turn import in_turn  # noqa: PLC0415  as packed

            return in_turn(self, known, self._kept.keep)
        return ServiceIterator(self, known) if is_map else StreamServiceIterator(self, known)

    def _recipe(self) -> Recipe | None:
        """Return what data servers are sent; None: the trainer prepares the batches itself."""
        if self._kept.is_for_good:
            return None
        # A job without data instances does without what packs.
        from smtc_lab.dataservice.recipe.packing import packed  # noqa: PLC0415

        try:
            return packed(source_of(self))
        except UnsendableError as error:
            self._kept.tell(
                f"cannot be sent to data servers: {error}. This trainer prepares its batches. "
                "Open files and the like in __getitem__, or leave them out with __getstate__"
            )
            return None

    @property
    def _kept(self) -> Keeping:
        """Whether the trainer itself prepares the batches."""
        if self._keeping is None:
            self._keeping = Keeping(self.dataset, self.notify)
        return cast("Keeping", self._keeping)

    def _wants_other_start_method(self) -> bool:
        """Return whether the script wants data workers that are not forked."""
        context = self.multiprocessing_context or multiprocessing
        method = context.get_start_method(allow_none=True)
        return method not in {None, "fork"} and self.num_workers > 0


def _is_same(one: Recipe | None, other: Recipe | None) -> bool:
    return (one and one.digest) == (other and other.digest)


def _first_num_workers(num_workers: str, *, has_servers: bool) -> int:
    """Return how many data workers a trainer begins with.

    Raises:
        DataServiceError: It is some other text than ``auto``.
    """
    if num_workers != "auto":
        raise DataServiceError(
            f"num_workers={num_workers!r}, but must be a number of data workers, or 'auto'."
        )
    return first_sharing(cores=own_cores(), has_servers=has_servers).num_local_workers
