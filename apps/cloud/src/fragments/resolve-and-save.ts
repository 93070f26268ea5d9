/**
 * Resolves a document that is being saved on a part. It is resolved once, before the transaction, because the transaction blocks all
 * writers. The transaction only checks that each import still finds the same revision, and writes the index from that resolution.
 */
import { aborted, PlatformError } from '@platform/base';
import {
  asEffective,
  type Effective,
  type EffectiveConfigurations,
} from '../machines/configuration/effective-configuration.ts';
import { placesOf } from '../machines/part-places.ts';
import type { Database } from '../metadata/tables.ts';
import type { FragmentOperationDeps } from './fragments-deps.ts';
import {
  fingerprint,
  heldBy,
  heldOf,
  type IndexRow,
  type PartResolution,
  resolvePart,
  writeIndex,
} from './part-index.ts';
import { createFragmentSource, type Found, type FragmentSource, rightsOf } from './source.ts';

/** The inputs from which an effective document was made. */
interface Origin {
  readonly resolution: PartResolution;
  readonly organizationId: string | null;
  readonly imports: readonly FoundImport[];
  /** The previous index rows, if they were read. */
  readonly held: readonly IndexRow[] | undefined;
}

/** The result of an import: its revision, or why there is none. */
interface FoundImport {
  readonly id: string;
  readonly version: string;
  readonly found: string;
}

export function resolveAndSave(
  deps: Pick<FragmentOperationDeps, 'db' | 'access' | 'clock' | 'cache'>,
): Pick<EffectiveConfigurations, 'effective' | 'saving'> {
  const { db, access, clock, cache } = deps;
  const origins = new WeakMap<Effective, Origin>();
  return {
    async effective(partId, document, ofNewPart) {
      const source = createFragmentSource(db, cache);
      const organizationId = ofNewPart ?? access.lineageOf('part', partId)?.organizationId ?? null;
      const imports: FoundImport[] = [];
      let held: readonly IndexRow[] | undefined;
      const readHeld = async () => {
        held ??= (await heldBy(db, [partId])).get(partId) ?? [];
        return heldOf(held);
      };
      const resolution = await resolvePart(recording(source, imports), organizationId, document, readHeld);
      const { running, problems } = resolution;
      const used = new Map<string, string>();
      for (const { fragmentId, revision } of running.used) {
        if (revision !== undefined) used.set(fragmentId, (await source.fragment(fragmentId))?.name ?? '');
      }
      const fragments = [...used].map(([id, name]) => ({ id, name }));
      // The schema check reports a document that is not an object.
      const isDocument = typeof document === 'object' && document !== null && !Array.isArray(document);
      const effective = asEffective(isDocument ? running.document : document, problems, fragments);
      origins.set(effective, { resolution, organizationId, imports, held });
      return effective;
    },
    async saving(trx, partId, checked) {
      const origin = origins.get(checked);
      if (origin === undefined)
        throw new PlatformError('internal', `part ${partId}: what is saved was not resolved here`);
      const before = (await heldBy(trx, [partId])).get(partId) ?? [];
      if (!(await isStillTrue(trx, partId, origin, before)))
        throw aborted(
          `configuration of part ${partId}: a fragment that it imports changed while the configuration was being saved. Save it again`,
        );
      await writeIndex(trx, [{ partId, resolution: origin.resolution, before }], clock.now());
    },
  };

  async function isStillTrue(
    trx: Database,
    partId: string,
    { organizationId, imports, held }: Origin,
    before: readonly IndexRow[],
  ): Promise<boolean> {
    if (imports.length === 0) return true;
    const [place] = await placesOf(trx, [partId]);
    if ((place?.organization_id ?? null) !== organizationId) return false;
    if (held !== undefined && fingerprint(held) !== fingerprint(before)) return false;
    // This transaction writes no revision, so it may cache what it reads.
    const source = createFragmentSource(trx, cache);
    for (const { id, version, found } of imports)
      if (textOf(await source.find(rightsOf(organizationId), id, version)) !== found) return false;
    return true;
  }
}

/** A source that records what the given one finds. */
function recording(source: FragmentSource, imports: FoundImport[]): FragmentSource {
  return {
    ...source,
    async find(rights, id, version) {
      const found = await source.find(rights, id, version);
      imports.push({ id, version, found: textOf(found) });
      return found;
    },
  };
}

function textOf(found: Found): string {
  return typeof found === 'string' ? found : found.revision;
}
