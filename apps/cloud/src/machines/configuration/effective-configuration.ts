/**
 * The effective configuration of a part: its saved document with fragments resolved. What the part gets, what triggers
 * are read from, and what its revision hashes (D10).
 */
import type { Problem } from '@platform/base';
import { type Parsed, parse } from '@platform/machine-config/parse';
import { revisionOf } from '@platform/machine-config/robot-config';
import type { MachineConfig } from '@platform/machine-config/schema';
import type { Transaction } from 'kysely';
import type { CloudTables } from '../../metadata/tables.ts';

export interface UsedFragment {
  readonly id: string;
  readonly name: string;
}

export interface Effective {
  /** The document with fragments resolved, without `fragments` and `fragment_mods` where they were resolved. */
  readonly document: unknown;
  /** The same, parsed: what is wrong is left out. */
  readonly config: MachineConfig;
  /** What resolving found (unknown fragments, variables without a value, …); paths are those of the saved document. */
  readonly problems: readonly Problem[];
  /** What parsing the resolved document found; paths are those of `document`. */
  readonly parseProblems: readonly Problem[];
  /** Hash of the effective document (D10). */
  readonly revision: string;
  /** The fragments in it, nested ones included. */
  readonly fragments: readonly UsedFragment[];
}

/** Resolves fragments; the fragments feature answers. Reads outside any open transaction. */
export interface EffectiveConfigurations {
  /**
   * What `document`, saved on the part, comes to. Faults are problems, not throws. End with `asEffective`.
   *
   * @param document the saved document as decoded JSON: any value, also one that is not an object.
   * @param organizationId of a part that is still to be created.
   */
  effective(partId: string, document: unknown, organizationId?: string): Promise<Effective>;
  /**
   * Cheap, from memory, asked at every poll: differs from an earlier answer when `effective` of the same document may
   * differ (a fragment that the part uses has changed). Moves inside the transaction that changes the fragment.
   */
  stampOf(partId: string): string;
  /** What a change of a fragment made wrong with the part, as it was found then; empty when nothing is. */
  problemsOf(partId: string): Promise<readonly Problem[]>;
  /**
   * Notes which fragments the part uses, in the transaction that saves its document.
   *
   * @param checked what `effective` answered, which was accepted. @throws aborted when a fragment changed since
   */
  saving(trx: Transaction<CloudTables>, partId: string, checked: Effective): Promise<void>;
  /** Forgets the part, in the transaction that deletes it. */
  deleting(trx: Transaction<CloudTables>, partId: string): Promise<void>;
}

/** The last step of resolving: parses and hashes. */
export function asEffective(
  document: unknown,
  problems: readonly Problem[],
  fragments: readonly UsedFragment[],
): Effective {
  const { config, problems: parseProblems }: Parsed = parse(document);
  return { document, config, problems, parseProblems, revision: revisionOf(config), fragments };
}
