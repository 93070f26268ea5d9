import { PlatformError } from '@platform/base';
import { DataService } from '@platform/proto/platform/app/data/v1/data';
import { AuthService } from '@platform/proto/proto/rpc/v1/auth';
import { connect } from '@platform/rpc/client';
import { type Row, rowsOf, stageBytes } from './rows.ts';

/** One stage of an aggregation pipeline: a plain object, values may be Dates, BSON classes or Extended JSON. */
export type Stage = Readonly<Record<string, unknown>>;

export interface CloudOptions {
  /** Such as http://127.0.0.1:8080. */
  readonly url: string;
  /** An API key: its id and its secret. */
  readonly keyId: string;
  readonly key: string;
  /** A call is given up after this long. Default 30,000. */
  readonly timeoutMs?: number;
}

export interface Cloud extends AsyncDisposable {
  /** Rows of an aggregation pipeline over `readings`. Throws an error with a gRPC code. */
  queryMql(organizationId: string, pipeline: readonly Stage[], signal?: AbortSignal): Promise<Row[]>;
  /** Rows of a SELECT over `readings`. Throws an error with a gRPC code. */
  querySql(organizationId: string, statement: string, signal?: AbortSignal): Promise<Row[]>;
  /** JSON of a path of the cloud that is not RPC, asked for with the key's access token. */
  getJson(path: string, signal?: AbortSignal): Promise<unknown>;
}

/** A connection to a cloud with an API key; connects and signs in at the first call. */
export function openCloud({ url, keyId, key, timeoutMs = 30_000 }: CloudOptions): Cloud {
  const credentials = { entity: keyId, type: 'api-key', payload: key } as const;
  const link = connect({ baseUrl: url, credentials, timeoutMs });
  const data = link.client(DataService);
  const options = (signal: AbortSignal | undefined): { signal?: AbortSignal } => (signal ? { signal } : {});

  let token: Promise<string> | undefined;
  const signIn = async (): Promise<string> => {
    await using open = connect({ baseUrl: url, timeoutMs });
    const { accessToken } = await open
      .client(AuthService)
      .authenticate({ entity: keyId, credentials: { type: credentials.type, payload: key } });
    return accessToken;
  };
  const get = async (path: string, signal: AbortSignal | undefined): Promise<Response> => {
    token ??= signIn();
    const authorization = `Bearer ${await token.catch((error: unknown) => {
      token = undefined;
      throw error;
    })}`;
    const limit = AbortSignal.timeout(timeoutMs);
    return fetch(new URL(path, url), {
      headers: { authorization },
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    });
  };

  return {
    async queryMql(organizationId, pipeline, signal) {
      const mqlBinary = pipeline.map(stageBytes);
      const { rawData } = await data.tabularDataByMQL({ organizationId, mqlBinary }, options(signal));
      return rowsOf(rawData);
    },
    async querySql(organizationId, sqlQuery, signal) {
      const { rawData } = await data.tabularDataBySQL({ organizationId, sqlQuery }, options(signal));
      return rowsOf(rawData);
    },
    async getJson(path, signal) {
      let response = await get(path, signal);
      if (response.status === 401) {
        // The token's secret was rotated or revoked (D5): once more with a new one.
        token = undefined;
        response = await get(path, signal);
      }
      if (!response.ok) {
        throw new PlatformError(
          'unavailable',
          `GET ${path}: expected 200, found ${response.status} ${await response.text()}`,
        );
      }
      return response.json();
    },
    [Symbol.asyncDispose]: () => link[Symbol.asyncDispose](),
  };
}
