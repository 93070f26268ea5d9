/**
 * Records the tests' calls of AppService: which operation was answered or refused through which client, and which fields of replies ever
 * had a value.
 */
import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { AppService } from '@platform/proto/platform/app/v1/app';
import type { AppClient } from '@viamrobotics/sdk';
import type { Answer, Peer } from '../clients/grpc-peer.ts';

export const appService = 'platform.app.v1.AppService';

/** 0: answered; otherwise the status code. */
type Code = number;
type Client = 'sdk' | 'grpc-js';

const operations: ReadonlyMap<string, DescMessage> = new Map(
  AppService.methods.map(({ name, output }) => [name, output]),
);

export class Watch {
  readonly #outcomes = new Map<string, Set<Code>>();
  /** For example `Robot.online_state`. */
  readonly filled: Set<string> = new Set();

  /** The codes with which the operation ended, through this client or any client. */
  outcomes(operation: string, client?: Client): ReadonlySet<Code> {
    const of = (one: Client): ReadonlySet<Code> => this.#outcomes.get(`${one} ${operation}`) ?? new Set();
    return client === undefined ? of('sdk').union(of('grpc-js')) : of(client);
  }

  ended(client: Client, operation: string, code: Code): void {
    if (!operations.has(operation)) throw new Error(`${operation} is no operation of AppService`);
    const key = `${client} ${operation}`;
    this.#outcomes.set(key, (this.#outcomes.get(key) ?? new Set()).add(code));
  }

  /** Wraps the client so that every call is recorded. */
  sdk(app: AppClient): AppClient {
    return new Proxy(app, {
      get: (target, name): unknown => {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== 'function' || typeof name !== 'string') return method;
        const operation = name.charAt(0).toUpperCase() + name.slice(1);
        return async (...given: unknown[]): Promise<unknown> => {
          try {
            const result: unknown = await Reflect.apply(method, target, given);
            this.ended('sdk', operation, 0);
            this.#sawResult(operation, result);
            return result;
          } catch (caught) {
            this.ended('sdk', operation, codeOf(caught));
            throw caught;
          }
        };
      },
    });
  }

  /** Makes a call of AppService through @grpc/grpc-js and records it. */
  async ask(peer: Peer, operation: string, request: object = {}): Promise<Answer> {
    try {
      const answer = await peer.call(appService, operation, request);
      this.ended('grpc-js', operation, 0);
      const output = operations.get(operation);
      if (output !== undefined) this.sawMessage(output, answer, (message, { name }) => message[name]);
      return answer;
    } catch (caught) {
      this.ended('grpc-js', operation, codeOf(caught));
      throw caught;
    }
  }

  /** For most replies the package returns the content of their only field, for some the whole reply. */
  #sawResult(operation: string, result: unknown): void {
    const output = operations.get(operation);
    if (output === undefined) return;
    const [only, ...others] = output.fields;
    const whole = isMessage(result) && nameIn(result) === output.typeName;
    if (whole) this.sawMessage(output, result, ofPackage);
    if (whole) return;
    if (only !== undefined && others.length === 0 && isFilled(only, result)) this.filled.add(keyOf(output, only));
    for (const one of Array.isArray(result) ? result : [result]) {
      const type = isMessage(one) ? output.fields.find((field) => field.message?.typeName === nameIn(one)) : undefined;
      if (type?.message !== undefined) this.sawMessage(type.message, one, ofPackage);
    }
  }

  /** Records the messages of a stream; in the package, the call itself always ends with an error. */
  sawLines(operation: string, client: Client, lines: readonly unknown[]): void {
    this.ended(client, operation, 0);
    const output = operations.get(operation) ?? raise(operation);
    this.sawMessage(output, { logs: lines }, ofPackage);
  }

  sawMessage(type: DescMessage, message: Answer, read: Reader): void {
    for (const field of type.fields) {
      const value = read(message, field);
      if (!isFilled(field, value)) continue;
      this.filled.add(keyOf(type, field));
      if (field.message === undefined || field.message.typeName.startsWith('google.')) continue;
      for (const one of Array.isArray(value) ? value : [value]) this.sawMessage(field.message, one, read);
    }
  }
}

type Reader = (message: Answer, field: DescField) => unknown;

/** A message of @bufbuild/protobuf 1, which the public client uses. */
type PackageMessage = Answer & { getType(): { readonly typeName: string } };

const isMessage = (value: unknown): value is PackageMessage =>
  typeof value === 'object' && value !== null && typeof Reflect.get(value, 'getType') === 'function';

const nameIn = (message: PackageMessage): string => message.getType().typeName.replace(/^viam\./, 'platform.');

const ofPackage: Reader = (message, { oneof, localName }) => {
  if (oneof === undefined || localName in message) return message[localName];
  const chosen = message[oneof.localName] as { readonly case?: string; readonly value?: unknown } | undefined;
  return chosen?.case === localName ? chosen.value : undefined;
};

function isFilled({ enum: words }: DescField, value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === 0 || value === 0n || value === false)
    return false;
  if (words !== undefined && value === words.values[0]?.name) return false;
  return !((Array.isArray(value) || value instanceof Uint8Array) && value.length === 0);
}

/** For example `Robot.id`, `SharedSecret.state`. */
export function keyOf(type: DescMessage, field: DescField): string {
  return `${type.name}.${field.name}`;
}

/** Every field that an answer of the operations can contain. */
export function fieldsOfAnswers(names: readonly string[]): ReadonlySet<string> {
  const seen = new Set<DescMessage>();
  const visit = (type: DescMessage): void => {
    if (seen.has(type) || type.typeName.startsWith('google.')) return;
    seen.add(type);
    for (const { message } of type.fields) if (message !== undefined) visit(message);
  };
  for (const name of names) visit(operations.get(name) ?? raise(name));
  return new Set([...seen].flatMap((type) => type.fields.map((field) => keyOf(type, field))));
}

function raise(name: string): never {
  throw new Error(`${name} is no operation of AppService`);
}

/** @throws any value that is not a call status */
export function codeOf(caught: unknown): number {
  const code: unknown = typeof caught === 'object' && caught !== null ? Reflect.get(caught, 'code') : undefined;
  if (typeof code === 'number') return code;
  throw caught;
}
