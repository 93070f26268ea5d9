/** Reads the pair of addresses in use from the statistics of a connection. */
import { pairOf } from '../candidate-kind.ts';
import type { SelectedPair } from '../peer.ts';
import type { RtcStats } from './rtc-types.ts';

export function selectedPairOf(rows: Iterable<RtcStats>): SelectedPair | undefined {
  const byId = new Map(Array.from(rows, (row) => [row.id, row]));
  const all = [...byId.values()];
  const selectedId = all.find(({ type }) => type === 'transport')?.selectedCandidatePairId;
  // Firefox has no such row.
  const selected =
    byId.get(selectedId ?? '') ??
    all.find(({ type, nominated, state }) => type === 'candidate-pair' && nominated === true && state === 'succeeded');
  const [local, remote] = [selected?.localCandidateId, selected?.remoteCandidateId].map((id) => byId.get(id ?? ''));
  if (local === undefined || remote === undefined) return undefined;
  return pairOf({ local: sideOf(local), remote: sideOf(remote) });
}

function sideOf({ candidateType = '', address, port }: RtcStats): Parameters<typeof pairOf>[0]['local'] {
  return { type: candidateType, address: address ?? '', port: port ?? 0 };
}
