/** DataService with its own store, for tests: org-1 and org-2, with callers selected by a header. */
import { type Clock, silentLog, systemClock } from '@platform/base';
import { DataService } from '@platform/proto/platform/app/data/v1/data';
import { SeriesService } from '@platform/proto/platform/series/v1/series';
import { type BsonDocument, type BsonValue, decodeBson, encodeBson } from '@platform/query';
import { type Client, connect } from '@platform/rpc/client';
import { createRpcServer, serve } from '@platform/rpc/server';
import { createAccess } from '../../access/authorize.ts';
import type { Principal, Role } from '../../access/principal.ts';
import type { OpenTabular } from '../../tabular/testing/open-tabular.ts';
import { createQueries, type Queries } from '../feature.ts';

export interface ServedQueries extends AsyncDisposable, Pick<Queries, 'ask'> {
  readonly client: Client<typeof DataService>;
  readonly series: Client<typeof SeriesService>;
  readonly baseUrl: string;
  mql(stages: readonly BsonValue[], headers?: Record<string, string>): Promise<BsonDocument[]>;
}

/** loc-1 contains robot-1 with part-1, loc-2 robot-2 with part-2, both in org-1; loc-3 contains robot-3 with part-3, in org-2. */
const organizations = new Set(['org-1', 'org-2']);
const organizationOfLocation = new Map([
  ['loc-1', 'org-1'],
  ['loc-2', 'org-1'],
  ['loc-3', 'org-2'],
]);

/** The header x-who selects the caller: `owner`, `operator loc-2`, `part part-1`; default: operator of org-1. */
export async function serveQueries(
  store: OpenTabular,
  options: { readonly clock?: Clock; readonly mayStill?: () => boolean } = {},
): Promise<ServedQueries> {
  const { clock = systemClock, mayStill = () => true } = options;
  const access = createAccess(
    {
      organization: (id) => (organizations.has(id) ? {} : undefined),
      organizations: () => [...organizations].map((id) => ({ id })),
      organizationOfLocation: (id) => organizationOfLocation.get(id),
      ancestors: (id) => [id],
      descendants: (id) => [id],
    },
    {
      locationOfMachine: (id) => (/^robot-[123]$/.test(id) ? id.replace('robot', 'loc') : undefined),
      machineOfPart: (id) => (/^part-[123]$/.test(id) ? id.replace('part', 'robot') : undefined),
    },
  );
  const queries = createQueries({
    tabular: store.tabular,
    db: store.db,
    access,
    names: {
      machineName: (id) => id.replace('robot-', 'machine '),
      partName: (id) => id.replace('part-', 'part '),
      machinesNamed: (name) => (name.startsWith('machine ') ? [name.replace('machine ', 'robot-')] : []),
      partsNamed: (name) => (name.startsWith('part ') ? [name.replace('part ', 'part-')] : []),
    },
    fleetSizes: () => [],
    recheck: async ({ principal }) => (mayStill() ? principal : callerOf('operator loc-2')),
    clock,
    log: silentLog,
    // Tests run on slow machines.
    noticeMs: 60_000,
  });
  const server = createRpcServer<Principal>({
    services: [serve(DataService, queries.dataHandlers), serve(SeriesService, queries.seriesHandlers)],
    authenticate: async (call) => callerOf(call.metadata.get('x-who') ?? 'operator'),
    open: [],
    fallback: (_request, response) => response.end(),
    log: silentLog,
  });
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  const baseUrl = `http://127.0.0.1:${port}`;
  const link = connect({ baseUrl });
  const client = link.client(DataService);
  return {
    ask: queries.ask,
    client,
    series: link.client(SeriesService),
    baseUrl,
    async mql(stages, headers = {}) {
      const mqlBinary = stages.map((stage) => encodeBson(stage as BsonDocument));
      const { rawData } = await client.tabularDataByMQL({ organizationId: 'org-1', mqlBinary }, { headers });
      return rawData.map((row) => decodeBson(row));
    },
    async [Symbol.asyncDispose]() {
      await link[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

export function callerOf(who: string): Principal {
  const [role = '', on] = who.split(' ');
  if (role === 'part') return { kind: 'part', partId: on ?? '' };
  const grants = (role === 'both' ? ['org-1', 'org-2'] : ['org-1']).map((organizationId) => ({
    role: (role === 'both' ? 'operator' : role) as Role,
    organizationId,
    locationId: on ?? null,
    robotId: null,
  }));
  return { kind: 'key', keyId: 'key-1', grants };
}
