/** The codecs of the call core: each bound method is served over gRPC, gRPC-Web, Connect and Connect-JSON. */
import type { UniversalHandler } from '@connectrpc/connect/protocol';
import { PlatformError } from '@platform/base';
import { Admission, type Cost } from '../core/admission.ts';
import { type BoundMethod, type BytesField, type ServiceBinding, takesEncoded } from '../core/binding.ts';
import { type CodecOptions, createBuilder } from './build-handler.ts';
import { type UnaryMethod, unaryMethod } from './unary-method.ts';

export interface Codecs {
  /** The handler of a canonical path for that content type; undefined if we have no method at that path. */
  find(path: string, contentType: string): UniversalHandler | undefined;
  /** A unary method of a canonical path for the gRPC fast path; undefined when it must take the general path. */
  unary(path: string): UnaryMethod | undefined;
  /** What one request at a canonical path may cost. */
  limits(path: string): Cost;
  /** Where large messages of a canonical path are split. */
  splitAt(path: string): BytesField | undefined;
  hasService(service: string): boolean;
}

/** A method, and who may call it. */
export interface AdmittedMethod<P> {
  /** The one for the binary codecs. */
  readonly bound: BoundMethod<P>;
  readonly admission: Admission<P>;
}

interface Table<P> extends Codecs {
  /** For transports that frame calls themselves. Undefined if we have no method at that path. */
  method(path: string): AdmittedMethod<P> | undefined;
}

export interface ExtensibleCodecs<P> extends Table<P> {
  /** Also serves these services, in place of those of the last call. Methods of the original services take precedence. */
  setAdded(services: readonly ServiceBinding<P>[]): void;
}

export function createCodecs<P>(options: CodecOptions<P>): ExtensibleCodecs<P> {
  const fixed = createTable(options);
  let added: Table<P> | undefined;
  return {
    find: (path, contentType) => fixed.find(path, contentType) ?? added?.find(path, contentType),
    unary: (path) => fixed.unary(path) ?? added?.unary(path),
    method: (path) => fixed.method(path) ?? added?.method(path),
    limits: fixed.limits,
    splitAt: fixed.splitAt,
    hasService: (service) => fixed.hasService(service) || added?.hasService(service) === true,
    setAdded(services) {
      added = services.length === 0 ? undefined : createTable({ ...options, services });
    },
  };
}

function createTable<P>(options: CodecOptions<P>): Table<P> {
  // Handlers are built on first use: most methods of most types are never called, and each takes some kB in four protocols.
  const handlers = new Map<string, () => UniversalHandler>();
  const rawHandlers = new Map<string, () => UniversalHandler>();
  const known = new Set<string>();
  const splits = new Map<string, BytesField>();
  const all = options.services.flatMap((service) => service.methods);
  const admission = new Admission(all, options);
  const build = createBuilder(options, admission);
  for (const bound of all) {
    const target = bound.raw ? rawHandlers : handlers;
    if (target.has(bound.path))
      throw new PlatformError('internal', `${bound.path} is bound twice; bind each service once`);
    target.set(
      bound.path,
      once(() => build(bound)),
    );
    if (bound.splitAt !== undefined) splits.set(bound.path, bound.splitAt);
    known.add(bound.method.parent.typeName);
  }
  const fastPath = new Map<string, () => UnaryMethod>();
  // Methods bound raw come last, so that they take the binary codecs of their path.
  const rawLast = all.toSorted((a, b) => Number(a.raw) - Number(b.raw));
  const methods = new Map(rawLast.map((bound) => [bound.path, { bound, admission }]));
  for (const bound of rawLast) {
    if (bound.kind !== 'unary' || admission.isGated(bound.path) || takesEncoded(bound.method)) continue;
    fastPath.set(
      bound.path,
      once(() => unaryMethod(bound, admission, options.authenticate)),
    );
  }
  return {
    unary: (path) => fastPath.get(path)?.(),
    method: (path) => methods.get(path),
    find: (path, contentType) =>
      ((contentType.includes('json') ? undefined : rawHandlers.get(path)) ?? handlers.get(path))?.(),
    splitAt: (path) => splits.get(path),
    limits: (path) => admission.costOf(path),
    hasService: (service) => known.has(service),
  };
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
