/**
 * The common part of all fakes: resources without hardware that keep state.
 *
 * Attributes of each: `errors` (object: method name as in the service → text, or `{code, message}` with the name of a gRPC status) makes
 * these methods fail, with UNAVAILABLE if no code is given; `delays_ms` (object: method name → milliseconds) makes them wait first.
 * DoCommand returns its command.
 */
import {
  type Clock,
  type CodeName,
  codes,
  invalidValue,
  PlatformError,
  unavailable,
  unimplemented,
} from '@platform/base';
import type { Fields } from '@platform/machine-config/fields';
import type { Document, Resource, ResourceCall, ResourceDescriptor } from '@platform/resources';
import type { Model } from '../../graph/model.ts';
import { readAttributes, type ValuesOf } from '../attributes.ts';

const commonFields = { errors: { kind: 'object' }, delays_ms: { kind: 'object' } } as const satisfies Fields;

interface FakeOptions<T extends Resource, F extends Fields> {
  readonly type: Pick<ResourceDescriptor, 'api' | 'service'>;
  readonly fields: F;
  /** `doCommand` may be omitted. */
  make(values: ValuesOf<F>, clock: Clock): FakeOf<T>;
}

/** A fake without the common part. */
export type FakeOf<T extends Resource> = Omit<T, 'close' | 'doCommand'> & {
  doCommand?(command: Document): Promise<Document>;
  /** Stops all motion. */
  close?(): Promise<void>;
};

type AnyMethod = (request: unknown, call: ResourceCall) => unknown;

/** `core:builtin:fake` of a type. */
export function fakeModel<T extends Resource, const F extends Fields>({
  type: { api, service },
  fields,
  make,
}: FakeOptions<T, F>): (clock: Clock) => Model {
  const all = { ...fields, ...commonFields };
  return (clock) => ({
    api,
    model: 'core:builtin:fake',
    fields: all,
    async build({ attributes }): Promise<Resource> {
      const values = readAttributes(all, attributes);
      const names = new Map(service.methods.map(({ name, localName }) => [name, localName]));
      const { errors = {}, delays_ms: delays = {} } = values as unknown as ValuesOf<typeof commonFields>;
      const made: Record<string, unknown> = {
        doCommand: async (command: Document) => command,
        async close() {},
        ...make(values as unknown as ValuesOf<F>, clock),
      };
      for (const [name, text] of Object.entries(errors)) {
        const failure = failureOf(name, text);
        const failing = (): never => {
          throw failure;
        };
        wrap(made, localNameOf(names, name, 'errors'), () => failing);
      }
      for (const [name, ms] of Object.entries(delays)) {
        if (typeof ms !== 'number' || !(ms >= 0))
          throw invalidValue(`attributes.delays_ms.${name}`, 'milliseconds of at least 0', ms);
        const localName = localNameOf(names, name, 'delays_ms');
        const kind = service.method[localName]?.methodKind;
        const isStream = kind === 'server_streaming' || kind === 'bidi_streaming';
        wrap(made, localName, (method) => (isStream ? delayedStream : delayed)(clock, ms, method));
      }
      return made as unknown as Resource;
    },
  });
}

/** A fake that only answers each command with itself. */
export const bareFake = (type: Pick<ResourceDescriptor, 'api' | 'service'>, clock: Clock): Model =>
  fakeModel({ type, fields: {}, make: () => ({}) })(clock);

function failureOf(method: string, given: unknown): PlatformError {
  if (typeof given === 'string') return unavailable(given);
  const { code, message } = (given ?? {}) as Readonly<Record<string, unknown>>;
  const name = String(code).toLowerCase();
  if (typeof message === 'string' && Object.hasOwn(codes, name)) return new PlatformError(name as CodeName, message);
  throw invalidValue(
    `attributes.errors.${method}`,
    'a text, or {"code": "NOT_FOUND", "message": "…"} with the name of a gRPC status',
    given,
  );
}

/** Replaces a method; a stream fails or waits before it begins. */
function wrap(made: Record<string, unknown>, localName: string, change: (method: AnyMethod) => AnyMethod): void {
  // Readable has `readings` instead of `getReadings`.
  const key = localName === 'getReadings' ? 'readings' : localName;
  const method = (made[key] as AnyMethod | undefined)?.bind(made) ?? missing(localName);
  made[key] = change(method);
}

/** The answer of a method that the fake does not have. */
function missing(localName: string): AnyMethod {
  if (localName === 'getStatus' || localName === 'getGeometries') return () => ({});
  return () => {
    throw unimplemented(`this fake does not have ${localName}`);
  };
}

function delayed(clock: Clock, ms: number, method: AnyMethod): AnyMethod {
  return async (request, call) => {
    // A reading has no call.
    await clock.sleep(ms, call?.signal);
    return await method(request, call);
  };
}

function delayedStream(clock: Clock, ms: number, method: AnyMethod): AnyMethod {
  return async function* (request, call) {
    await clock.sleep(ms, call.signal);
    yield* method(request, call) as AsyncIterable<unknown>;
  };
}

function localNameOf(names: ReadonlyMap<string, string>, name: string, key: string): string {
  const found = names.get(name);
  if (found !== undefined) return found;
  const known = [...names.keys()].join(', ');
  throw invalidValue(`attributes.${key}`, `one of ${known}`, name);
}
