/** When candidates are told and used: not before the steps that must come first (see native-peer.ts). */
import type { Candidate } from '../../peer.ts';
import type { FromEngine } from '../frames.ts';
import { isUsable, maxCandidates } from './sdp.ts';

export interface CandidateOrder {
  /** A candidate of this side, or that there are no more. */
  found(message: FromEngine): void;
  /** From now on, what is found is told. */
  tell(): void;
  /** A candidate of the other side. One that cannot be used is ignored. */
  add(candidate: Candidate): void;
  /** From now on, those of the other side are used. */
  check(): void;
}

/** @param use may throw for a candidate that cannot be used */
export function createCandidateOrder(
  use: (candidate: Candidate) => void,
  tell: (message: FromEngine) => void,
): CandidateOrder {
  const held: FromEngine[] = [];
  const early: Candidate[] = [];
  let [mayTell, mayCheck, count] = [false, false, 0];
  const tryToUse = (candidate: Candidate): void => {
    try {
      use(candidate);
    } catch {
      // It is ignored.
    }
  };
  return {
    found(message) {
      if (mayTell) tell(message);
      else held.push(message);
    },
    tell() {
      mayTell = true;
      for (const message of held.splice(0)) tell(message);
    },
    add(candidate) {
      if (!isUsable(candidate.candidate) || ++count > maxCandidates) return;
      if (mayCheck) tryToUse(candidate);
      else early.push(candidate);
    },
    check() {
      mayCheck = true;
      for (const candidate of early.splice(0)) tryToUse(candidate);
    },
  };
}
