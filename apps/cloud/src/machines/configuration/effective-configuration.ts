/**
 * The effective configuration of a part: its saved document with fragments resolved. The part receives it, triggers are read from it,
 * and the revision is its hash (D10).
 */
import type { Problem } from '@platform/base';
import { type Parsed, parse } from '@platform/machine-config/parse';
import { revisionOf } from '@platform/machine-config/robot-config';
import type { MachineConfig } from '@platform/machine-config/schema';
import type { DatabaseTransaction } from '../../metadata/tables.ts';

export interface UsedFragment {
  readonly id: string;
  readonly name: string;
}

export interface Effective {
  /** The document with fragments resolved; `fragments` and `fragment_mods` are removed where they were resolved. */
  readonly document: unknown;
  /** The same, parsed; invalid entries are omitted. */
  readonly config: MachineConfig;
  /** Problems found while resolving (unknown fragments, variables without a value, …), with paths in the saved document. */
  readonly problems: readonly Problem[];
  /** Problems found while parsing the resolved document, with paths in `document`. */
  readonly parseProblems: readonly Problem[];
  /** Hash of the effective document (D10). */
  readonly revision: string;
  /** The fragments it uses, including nested ones. */
  readonly fragments: readonly UsedFragment[];
}

/** Resolves fragments; implemented by the fragments feature. Reads outside any open transaction. */
export interface EffectiveConfigurations {
  /**
   * Resolves the fragments of `document`, saved on the part. Faults are returned as problems, not thrown. The result comes from
   * `asEffective`.
   *
   * @param document the saved document as decoded JSON: any value, even one that is not an object.
   * @param organizationId for a part that does not exist yet.
   */
  effective(partId: string, document: unknown, organizationId?: string): Promise<Effective>;
  /**
   * Cheap, from memory, read at every poll. Changes whenever `effective` of the same document may have changed, because a fragment that the
   * part uses has changed. It changes within the transaction that changes the fragment.
   */
  stampOf(partId: string): string;
  /** Problems that a fragment change caused for the part, as found at that time; empty if there are none. */
  problemsOf(partId: string): Promise<readonly Problem[]>;
  /**
   * Records which fragments the part uses, in the transaction that saves its document.
   *
   * @param checked the accepted result of `effective`. @throws aborted if a fragment has changed since
   */
  saving(trx: DatabaseTransaction, partId: string, checked: Effective): Promise<void>;
  /** Deletes the part's records, in the transaction that deletes the part. */
  deleting(trx: DatabaseTransaction, partId: string): Promise<void>;
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
