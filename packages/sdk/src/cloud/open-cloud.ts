import { DataService } from '@platform/proto/platform/app/data/v1/data';
import { DatasetService } from '@platform/proto/platform/app/dataset/v1/dataset';
import { PackageService } from '@platform/proto/platform/app/packages/v1/packages';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { BillingService } from '@platform/proto/platform/app/v1/billing';
import { TriggerService } from '@platform/proto/platform/app/v1/triggers';
import { InvoiceService, PriceService } from '@platform/proto/platform/billing/v1/billing';
import { FleetService } from '@platform/proto/platform/fleet/v1/fleet';
import { GapService } from '@platform/proto/platform/gaps/v1/gaps';
import { AuthService } from '@platform/proto/proto/rpc/v1/auth';
import { type Client, type Credentials, connect } from '@platform/rpc/client';
import { lazyEngine } from '../machine/lazy-engine.ts';
import type { Machine, MachineOptions } from '../machine/open-machine.ts';
import { openPart } from '../machine/open-part.ts';
import { type BillingClient, billingClient } from './billing-client.ts';
import { type HttpAnswer, sendHttp } from './http-request.ts';
import { type FileBody, openFile } from './open-file.ts';
import { refusalOf } from './refusal.ts';
import { type Row, rowsOf, stageBytes } from './rows.ts';

/** One stage of an aggregation pipeline: a plain object, values may be Dates, BSON classes or Extended JSON. */
export type Stage = Readonly<Record<string, unknown>>;

/** An API key (its id and its secret), or the token of a person's session. */
export type CloudCredentials = { readonly keyId: string; readonly key: string } | { readonly sessionToken: string };

export type CloudOptions = CloudCredentials & {
  /** For example http://127.0.0.1:8080. */
  readonly url: string;
  /** A call fails after this many milliseconds. Default 30,000. */
  readonly timeoutMs?: number;
  /** PEM certificates to trust instead of the system's. */
  readonly ca?: string | undefined;
  /** Ends all calls and requests. */
  readonly signal?: AbortSignal;
  /** Allows credentials over plaintext to another computer. Default false. */
  readonly allowInsecureCredentials?: boolean;
};

export interface Cloud extends AsyncDisposable {
  /** Organizations, locations, machines, parts, keys, fragments: the public app API. */
  readonly app: Client<typeof AppService>;
  /** Configuration versions, part status, key details, audit: operations that the public API lacks. */
  readonly fleet: Client<typeof FleetService>;
  /** Queries, export and deletion of captured data: the public data API. Rows are BSON: `readRow`, `parseStages`. */
  readonly data: Client<typeof DataService>;
  /** Readings that were not captured, or not kept. */
  readonly gaps: Client<typeof GapService>;
  /** The state of triggers, and the outcome of their notifications. */
  readonly triggers: Client<typeof TriggerService>;
  /** Datasets of captured files: the public dataset API. */
  readonly datasets: Client<typeof DatasetService>;
  /** Archives that machines download: the public package API. */
  readonly packages: Client<typeof PackageService>;
  /** Usage, invoices and charges of organizations. */
  readonly billing: BillingClient;
  /** Price lists, usage by the hour and simulated invoices: operations that the public API lacks. */
  readonly prices: Client<typeof PriceService>;
  /** Payment methods, credit notes and the closing of months: operations that the public API lacks. */
  readonly invoices: Client<typeof InvoiceService>;
  /**
   * A machine, wherever it is: through the cloud, or with `{ path: 'auto' }` over WebRTC as soon as such a connection is open, which starts a
   * process for it. Calls fail as `unavailable` while it is offline. When the connection is disposed or lost, the machine stops the movements
   * that were started over it.
   */
  machine(partId: string, options?: MachineOptions): Machine;
  /** Rows of an aggregation pipeline over `readings`. Throws an error with a gRPC code. */
  queryMql(organizationId: string, pipeline: readonly Stage[]): Promise<Row[]>;
  /** Rows of a SELECT over `readings`. Throws an error with a gRPC code. */
  querySql(organizationId: string, statement: string): Promise<Row[]>;
  /** JSON from a non-RPC path of the cloud, requested with the access token. Throws the code and message of a refusal. */
  getJson(path: string): Promise<unknown>;
  /** Sends JSON to a non-RPC path of the cloud. Throws only if there is no answer. */
  postJson(path: string, body: unknown): Promise<HttpAnswer>;
  /** The bytes of a captured file, starting at this byte. Throws the code and message of a refusal. */
  openFile(id: string, fromByte?: number): Promise<FileBody>;
  /** The access token of this connection, to show to other tools. */
  accessToken(): Promise<string>;
}

/** The answer to a query may contain 64 MiB of rows. */
const maxMessageBytes = 80 * 1024 * 1024;

/** A connection to a cloud; connects and signs in at the first call. */
export function openCloud(options: CloudOptions): Cloud {
  const { url, timeoutMs = 30_000, ca, signal = new AbortController().signal } = options;
  const credentials: Credentials =
    'keyId' in options
      ? { entity: options.keyId, type: 'api-key', payload: options.key }
      : { entity: '', type: 'access-token', payload: options.sessionToken };
  const { allowInsecureCredentials = false } = options;
  const common = { baseUrl: url, timeoutMs, signal, maxMessageBytes, allowInsecureCredentials, ca };
  const link = connect({ ...common, credentials });
  const data = link.client(DataService);
  const machines: Machine[] = [];
  const engine = lazyEngine();

  let token: Promise<string> | undefined;
  const signIn = async (): Promise<string> => {
    await using open = connect(common);
    const { entity, type, payload } = credentials;
    const { accessToken } = await open.client(AuthService).authenticate({ entity, credentials: { type, payload } });
    return accessToken;
  };
  const accessToken = (): Promise<string> => {
    token ??= signIn().catch((error: unknown) => {
      token = undefined;
      throw error;
    });
    return token;
  };
  /** Repeats the request once with a new token if the cloud refuses this one. */
  const withToken = async <T extends { readonly status?: number; readonly statusCode?: number | undefined }>(
    send: (token: string) => Promise<T>,
  ): Promise<T> => {
    const answer = await send(await accessToken());
    if ((answer.status ?? answer.statusCode) !== 401) return answer;
    // The token's secret was rotated or revoked (D5).
    token = undefined;
    return send(await accessToken());
  };
  const ask = (
    path: string,
    request: { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: string },
  ): Promise<HttpAnswer> =>
    withToken((bearer) =>
      sendHttp({
        ...request,
        url: new URL(path, url),
        headers: { ...request.headers, authorization: `Bearer ${bearer}` },
        ca,
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      }),
    );

  return {
    app: link.client(AppService),
    fleet: link.client(FleetService),
    gaps: link.client(GapService),
    triggers: link.client(TriggerService),
    data,
    datasets: link.client(DatasetService),
    packages: link.client(PackageService),
    billing: billingClient(link.client(BillingService)),
    prices: link.client(PriceService),
    invoices: link.client(InvoiceService),
    machine(partId, options) {
      const machine = openPart({ link, engine: engine.get, timeoutMs, signal }, partId, options);
      machines.push(machine);
      return machine;
    },
    async queryMql(organizationId, pipeline) {
      const mqlBinary = pipeline.map(stageBytes);
      const { rawData } = await data.tabularDataByMQL({ organizationId, mqlBinary });
      return rowsOf(rawData);
    },
    async querySql(organizationId, sqlQuery) {
      const { rawData } = await data.tabularDataBySQL({ organizationId, sqlQuery });
      return rowsOf(rawData);
    },
    async getJson(path) {
      const answer = await ask(path, {});
      if (answer.status !== 200) throw refusalOf(answer, `GET ${path}`);
      return answer.body;
    },
    postJson(path, body) {
      const headers = { 'content-type': 'application/json' };
      return ask(path, { method: 'POST', body: JSON.stringify(body), headers });
    },
    openFile: (id, fromByte = 0) =>
      openFile(new URL(`/binary-data/${encodeURIComponent(id)}`, url), fromByte, ca, signal, withToken),
    accessToken,
    async [Symbol.asyncDispose]() {
      await Promise.all(machines.map((machine) => machine[Symbol.asyncDispose]()));
      await engine[Symbol.asyncDispose]();
      await link[Symbol.asyncDispose]();
    },
  };
}
