/**
 * The configuration of a part as versions: every save creates one, with author and time, and versions are never changed.
 *
 * A save may name the version that the client edited; it is refused unless that is still the newest (compare and swap). A save without one
 * overwrites the newest version, which stays in the history.
 */
import { aborted, type Clock } from '@platform/base';
import { equal } from '@platform/machine-config/diff';
import type { Json } from '@platform/machine-config/schema';
import { type Author, authorOf, type Caller, type OwnActor } from '../../access/audit.ts';
import type { Database, DatabaseTransaction } from '../../metadata/tables.ts';
import type { OnConfigurationChange } from './configuration-change.ts';
import { type ConfigurationHistory, createHistory } from './configuration-history.ts';
import { dropOldDocuments, keptBytesOf, maxHistoryBytes } from './drop-old-documents.ts';
import { editConflict } from './edit-conflict.ts';
import type { Effective, EffectiveConfigurations } from './effective-configuration.ts';
import { parseDocument } from './parse-document.ts';
import { writeVersion } from './write-version.ts';

/** Total size of the documents cached in memory. */
const maxCachedBytes = 64 * 1024 * 1024;
/** How often a save starts over because a fragment changed during it. */
const maxAttempts = 5;

export interface ConfigurationVersion {
  /** From 1, without gaps; 0: never configured. */
  readonly version: number;
  /** The bytes that the user saved: a JSON object. Empty: an old version whose document is no longer kept. */
  readonly document: string;
  readonly author: Author;
  readonly createdMs: number;
  /** Hash of the effective document when it was saved (D10). */
  readonly revision: string;
  /** The version that this one restored; 0: none. */
  readonly restoredFrom: number;
}

export interface SaveRequest {
  readonly partId: string;
  readonly document: string;
  readonly by: Caller | OwnActor;
  /** The version that the client edited, by its save time or number; absent: the last write wins. */
  readonly edited?: { readonly createdMs: number } | { readonly version: number };
  /** The client sent an object instead of text: if it equals the newest version as JSON, no new version is created. */
  readonly unformatted?: boolean;
  readonly restoredFrom?: number;
  /** For the audit trail. */
  readonly action?: string;
  /** Other changes of the same edit: runs in the save's transaction, even if the document equals the newest version. */
  readonly alongside?: (trx: DatabaseTransaction) => Promise<void>;
  /** Receives the warnings of the saved document, even if it equals the newest version. */
  readonly warned?: (warnings: readonly string[]) => void;
}

/** The first version of a part that is being created. */
export interface FirstVersion {
  /** Must be called in the transaction that creates the part. @throws aborted if a fragment has changed since */
  write(trx: DatabaseTransaction): Promise<void>;
  /** Must be called after the commit. */
  committed(): Promise<void>;
}

export interface Configurations extends ConfigurationHistory {
  /** The newest version's number; from memory after the first call. */
  versionOf(partId: string): Promise<number>;
  /** The current version; a part that was never configured has version 0 with an empty object. */
  current(partId: string): Promise<ConfigurationVersion>;
  /**
   * Saves a new version after `check` accepted it. If the document has the same bytes as the newest version, saves nothing and returns
   * that version. @throws invalid_argument, aborted
   */
  save(request: SaveRequest): Promise<ConfigurationVersion>;
  /** Checks the initial document of a new part. @throws invalid_argument */
  first(
    request: Pick<SaveRequest, 'partId' | 'document' | 'by'> & { organizationId: string; action: string },
  ): Promise<FirstVersion>;
  /** Drops what is cached about a deleted part. */
  forget(partId: string): void;
}

export interface ConfigurationDeps {
  readonly db: Database;
  readonly clock: Clock;
  /** Resolves fragments. */
  readonly effective: EffectiveConfigurations;
  /** @throws not_found if the part does not exist. */
  readonly organizationOf: (partId: string) => string;
  /** Returns the warnings of a document. Throws invalid_argument with all its errors and their JSON paths. */
  readonly check: (
    document: unknown,
    effective: Effective,
    organizationId: string,
    partId: string,
  ) => Promise<readonly string[]>;
  /** Called with the warnings of a saved version. */
  readonly onWarnings: (partId: string, version: number, warnings: readonly string[]) => Promise<void>;
  readonly onConfigurationChange: OnConfigurationChange;
  /** Limit for the documents of one part together. Default: 64 MiB. */
  readonly maxHistoryBytes?: number;
}

export function createConfigurations(deps: ConfigurationDeps): Configurations {
  const { db, clock, effective, organizationOf, check, onWarnings } = deps;
  const maxBytes = deps.maxHistoryBytes ?? maxHistoryBytes;
  const history = createHistory(db);
  const versions = new Map<string, number>();
  const documents = new Map<string, ConfigurationVersion>();
  let cachedBytes = 0;
  /** Stored size of each part's documents, once it has been read. */
  const keptBytes = new Map<string, number>();

  /** A read that began before a save must not restore the older version. */
  const remember = (partId: string, found: ConfigurationVersion): void => {
    if ((versions.get(partId) ?? -1) > found.version) return;
    versions.set(partId, found.version);
    const before = documents.get(partId);
    if (before !== undefined) cachedBytes -= before.document.length;
    documents.delete(partId);
    documents.set(partId, found);
    cachedBytes += found.document.length;
    for (const [oldest, { document }] of documents) {
      if (cachedBytes <= maxCachedBytes) return;
      documents.delete(oldest);
      cachedBytes -= document.length;
    }
  };

  const current = async (partId: string): Promise<ConfigurationVersion> => {
    const cached = documents.get(partId);
    if (cached !== undefined) return cached;
    const found = await history.newest(partId);
    remember(partId, found);
    return found;
  };

  const pruneHistory = async (trx: DatabaseTransaction, partId: string, saved: ConfigurationVersion) => {
    const before = keptBytes.get(partId);
    const kept = before === undefined ? await keptBytesOf(trx, partId) : before + Buffer.byteLength(saved.document);
    const left = await dropOldDocuments(trx, partId, { newest: saved.version, keptBytes: kept, maxBytes });
    keptBytes.set(partId, left);
  };

  return {
    ...history,
    current,
    forget(partId) {
      cachedBytes -= documents.get(partId)?.document.length ?? 0;
      documents.delete(partId);
      versions.delete(partId);
      keptBytes.delete(partId);
    },
    async first({ partId, document, by, organizationId, action }) {
      const parsed = parseDocument(document, partId);
      const resolved = await effective.effective(partId, parsed, organizationId);
      const warnings = await check(parsed, resolved, organizationId, partId);
      const { revision } = resolved;
      const author = authorOf(by);
      const version = { version: 1, document, author, createdMs: clock.now(), revision, restoredFrom: 0 };
      return {
        write: (trx) =>
          writeVersion(trx, deps, async () => undefined, {
            partId,
            organizationId,
            version,
            resolved,
            by,
            action,
          }),
        async committed() {
          remember(partId, version);
          if (warnings.length > 0) await onWarnings(partId, 1, warnings);
        },
      };
    },
    async versionOf(partId) {
      return versions.get(partId) ?? (await current(partId)).version;
    },
    async save(request) {
      const { partId, document, by, edited, alongside, unformatted = false, restoredFrom = 0 } = request;
      const { action = 'AppService.UpdateRobotPart' } = request;
      const parsed = parseDocument(document, partId);
      const author = authorOf(by);
      // Compare documents before the transaction, because it blocks all writers. The newest version rarely changes in between.
      const compared = new Map<number, boolean>();
      const isSaved = ({ version, document: saved }: ConfigurationVersion): boolean => {
        const known = compared.get(version);
        if (known !== undefined) return known;
        const isEqual = saved === document || (unformatted && equal(JSON.parse(saved), parsed as Json));
        compared.set(version, isEqual);
        return isEqual;
      };
      for (let attempt = 1; attempt <= maxAttempts; attempt++) {
        const stamp = effective.stampOf(partId);
        const resolved = await effective.effective(partId, parsed);
        const warnings = await check(parsed, resolved, organizationOf(partId), partId);
        isSaved(await current(partId));
        const saving = db.transaction().execute(async (trx) => {
          if (effective.stampOf(partId) !== stamp) return undefined;
          const before = await history.newest(partId, trx);
          if (before.version > 0 && isSaved(before)) {
            await alongside?.(trx);
            return { version: before, isNew: false };
          }
          if (edited !== undefined) {
            const isNewest =
              'version' in edited
                ? edited.version === before.version
                : before.version === 0 || edited.createdMs === before.createdMs;
            if (!isNewest) return { editConflict: edited, version: before, isNew: false };
          }
          const version: ConfigurationVersion = {
            version: before.version + 1,
            document,
            author,
            createdMs: Math.max(clock.now(), before.createdMs + 1),
            revision: resolved.revision,
            restoredFrom,
          };
          const organizationId = organizationOf(partId);
          const runningBefore = async (): Promise<unknown> =>
            before.version === 0
              ? undefined
              : (await effective.effective(partId, JSON.parse(before.document))).document;
          await writeVersion(trx, deps, runningBefore, {
            partId,
            organizationId,
            version,
            resolved,
            by,
            action,
          });
          await pruneHistory(trx, partId, version);
          await alongside?.(trx);
          return { version, isNew: true };
        });
        const saved = await saving.catch((caught: unknown) => {
          // The failed save was already counted.
          keptBytes.delete(partId);
          throw caught;
        });
        if (saved === undefined) continue;
        if (saved.editConflict !== undefined) throw await editConflict(db, partId, saved.editConflict, saved.version);
        remember(partId, saved.version);
        request.warned?.(warnings);
        if (saved.isNew && warnings.length > 0) await onWarnings(partId, saved.version.version, warnings);
        return saved.version;
      }
      throw aborted(
        `configuration of part ${partId}: a fragment that it uses changed ${maxAttempts} times while the configuration was being saved. Save it again`,
      );
    },
  };
}
