/** The codecs of the call core: each bound method is served over gRPC, gRPC-Web, Connect and Connect-JSON. */
import type { UniversalHandler } from '@connectrpc/connect/protocol';
import { PlatformError } from '@platform/base';
import { type BytesField, type ServiceBinding, takesEncoded } from '../core/binding.ts';
import { defaultRequestLimits, openRequestLimits, type RequestLimits } from '../core/request-limits.ts';
import { type CodecOptions, createBuilder } from './build-handler.ts';
import { type UnaryMethod, unaryMethod } from './unary-method.ts';

export interface Codecs {
  /** The handler of a canonical path for that content type; undefined if we have no method at that path. */
  find(path: string, contentType: string): UniversalHandler | undefined;
  /** A unary method of a canonical path for the gRPC fast path; undefined when it must take the general path. */
  unary(path: string): UnaryMethod | undefined;
  /** What one request at a canonical path may cost. */
  limits(path: string): RequestLimits & { readonly maxRequestBytes: number };
  /** Where large messages of a canonical path are split. */
  splitAt(path: string): BytesField | undefined;
  hasService(service: string): boolean;
}

export interface ExtensibleCodecs<P> extends Codecs {
  /** Also serves these services, in place of those of the last call. Methods of the original services take precedence. */
  setAdded(services: readonly ServiceBinding<P>[]): void;
}

export function createCodecs<P>(options: CodecOptions<P>): ExtensibleCodecs<P> {
  const fixed = createTable(options);
  let added: Codecs | undefined;
  return {
    find: (path, contentType) => fixed.find(path, contentType) ?? added?.find(path, contentType),
    unary: (path) => fixed.unary(path) ?? added?.unary(path),
    limits: fixed.limits,
    splitAt: fixed.splitAt,
    hasService: (service) => fixed.hasService(service) || added?.hasService(service) === true,
    setAdded(services) {
      added = services.length === 0 ? undefined : createTable({ ...options, services });
    },
  };
}

function createTable<P>(options: CodecOptions<P>): Codecs {
  // Handlers are built on first use: most methods of most types are never called, and each takes some kB in four protocols.
  const handlers = new Map<string, () => UniversalHandler>();
  const rawHandlers = new Map<string, () => UniversalHandler>();
  const known = new Set<string>();
  const limits = new Map<string, RequestLimits>();
  const splits = new Map<string, BytesField>();
  const build = createBuilder(options);
  for (const bound of options.services.flatMap((service) => service.methods)) {
    const target = bound.raw ? rawHandlers : handlers;
    if (target.has(bound.path))
      throw new PlatformError('internal', `${bound.path} is bound twice; bind each service once`);
    target.set(
      bound.path,
      once(() => build(bound)),
    );
    limits.set(bound.path, bound.limits);
    if (bound.splitAt !== undefined) splits.set(bound.path, bound.splitAt);
    known.add(bound.method.parent.typeName);
  }
  const { authenticate, admitOpen, open, callerFields, log } = options;
  const limitsOf = (path: string): RequestLimits & { readonly maxRequestBytes: number } => {
    const known = limits.get(path) ?? defaultRequestLimits;
    const maxRequestBytes = known.maxRequestBytes ?? options.maxMessageBytes;
    if (!open.has(path)) return { ...known, maxRequestBytes };
    return {
      ...known,
      maxRequestBytes: Math.min(maxRequestBytes, openRequestLimits.maxRequestBytes),
      maxMessages: Math.min(known.maxMessages, openRequestLimits.maxMessages),
    };
  };
  const fastPath = new Map<string, () => UnaryMethod>();
  // Methods bound raw come last, so that they take the binary codecs of their path.
  const rawLast = options.services
    .flatMap((service) => service.methods)
    .toSorted((a, b) => Number(a.raw) - Number(b.raw));
  const gated = new Set(rawLast.filter(({ beforeBody }) => beforeBody !== undefined).map(({ path }) => path));
  for (const bound of rawLast) {
    if (bound.kind !== 'unary' || gated.has(bound.path) || takesEncoded(bound.method)) continue;
    const asked = open.has(bound.path) ? undefined : authenticate;
    fastPath.set(
      bound.path,
      once(() =>
        unaryMethod(bound, { authenticate: asked, admitOpen, limits: limitsOf(bound.path), callerFields, log }),
      ),
    );
  }
  return {
    unary: (path) => fastPath.get(path)?.(),
    find: (path, contentType) =>
      ((contentType.includes('json') ? undefined : rawHandlers.get(path)) ?? handlers.get(path))?.(),
    splitAt: (path) => splits.get(path),
    limits: limitsOf,
    hasService: (service) => known.has(service),
  };
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
