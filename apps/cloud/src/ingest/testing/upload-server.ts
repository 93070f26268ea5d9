/** DataSyncService on a real port with a temporary directory, for tests: every token is the part id that it may upload for. */
import { type Clock, createLog, PlatformError, silentLog, systemClock } from '@platform/base';
import { createRpcServer } from '@platform/rpc/server';
import { type BlobStore, openBlobStore } from '../../blobs/blob-store.ts';
import { sendError } from '../../edge/http.ts';
import { openTestStore } from '../../metadata/testing/test-store.ts';
import { throwUncaught } from '../../metadata/testing/throw-uncaught.ts';
import type { FindDeleted } from '../accept-upload.ts';
import { createIngest, type Ingest } from '../feature.ts';
import type { IngestLog } from '../log/log.ts';
import { openIngestLog } from '../log/open-ingest-log.ts';
import type { Place } from '../place.ts';
import { neverBehind } from './never-behind.ts';

export interface UploadServer extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  readonly url: string;
  readonly log: IngestLog;
  readonly blobs: BlobStore;
  readonly ingest: Ingest<string>;
  readonly blobDirectory: string;
  /** The calls of reportGap. */
  readonly gaps: readonly string[];
  /** Sets the free disk space from now on. */
  setFreeBytes(bytes: number): void;
}

/** The existing parts. The caller named by the header `caller` may upload for `part-1` only. */
export const parts: readonly string[] = ['part-1', 'part-2'];

export function placeOf(partId: string): Place {
  return {
    organizationId: 'org',
    locationId: 'loc',
    robotId: 'robot',
    partId,
    organizationName: 'Org',
    locationName: 'Loc',
    robotName: 'Robot',
    partName: 'Part',
  };
}

export async function startUploadServer(
  clock: Clock = systemClock,
  findDeleted: FindDeleted = async () => [],
): Promise<UploadServer> {
  const store = await openTestStore();
  const { directory, database } = store;
  const blobDirectory = directory.file('blobs');
  const log = await openIngestLog({
    onFatal: throwUncaught,
    file: directory.file('ingest.sqlite'),
    database,
    log: silentLog,
    clock,
  });
  const blobs = await openBlobStore({ directory: blobDirectory, clock });
  const gaps: string[] = [];
  let free = 2 ** 40;
  const ingest = createIngest<string>({
    ingestLog: log,
    blobs,
    clock,
    log: silentLog,
    freeBytes: async () => free,
    freeInodes: async () => 1e6,
    sealSoon() {},
    keepsBlob: async () => false,
    stagingFolder: directory.file('staged'),
    stagedLimits: { maxBytes: 64 * 1024 * 1024, maxUploads: 3 },
    findDeleted,
    store: neverBehind(log),
    reportGap: (_place, text) => void gaps.push(text),
    async authorizeUpload(principal, partId) {
      if (!parts.includes(partId)) throw new PlatformError('not_found', `there is no part ${partId}`);
      if (partId !== principal)
        throw new PlatformError('permission_denied', `${principal} may not upload for ${partId}`);
      return placeOf(partId);
    },
    heard() {},
  });
  const server = createRpcServer<string>({
    services: ingest.bindings,
    authenticate: async () => 'part-1',
    open: [],
    fallback: (request, response) => {
      const url = new URL(request.url ?? '/', 'http://localhost');
      ingest
        .uploadRoute(request, response, url, async () => 'part-1')
        .then((isHandled) => isHandled || response.end())
        .catch((caught: unknown) => sendError(response, caught, url.pathname, silentLog));
    },
    log: createLog((level, logger, message, fields) => {
      if (level === 'error') console.error(logger, message, fields);
    }),
  });
  const { host, port } = await server.listen({ host: '127.0.0.1', port: 0 });
  return {
    host,
    port,
    url: `http://${host}:${port}`,
    log,
    blobs,
    ingest,
    blobDirectory,
    gaps,
    setFreeBytes(bytes) {
      free = bytes;
    },
    async [Symbol.asyncDispose]() {
      await server.close({ graceMs: 0 });
      await log[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}
