/** The standard reflection service, in both versions that clients use. */
import type { DescService } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import { ServerReflection, type ServerReflectionRequest } from '@platform/proto/grpc/reflection/v1/reflection';
import {
  ServerReflection as ServerReflectionAlpha,
  type ServerReflectionRequest as ServerReflectionRequestAlpha,
} from '@platform/proto/grpc/reflection/v1alpha/reflection';
import { type ServiceBinding, serve } from '../core/binding.ts';
import { type DescriptorFile, type DescriptorFiles, descriptorFiles } from './descriptor-files.ts';
import { memoizeLast } from './memoize-last.ts';

/** Descriptors of the given services at the time of a call, and of reflection itself. */
export function reflectionBindings<P>(services: () => readonly DescService[]): ServiceBinding<P>[] {
  const known = memoizeLast(services, (all) => descriptorFiles([...all, ServerReflection, ServerReflectionAlpha]));
  const serverReflectionInfo = (requests: AsyncIterable<Request>): AsyncGenerator<Answer> => answers(known(), requests);
  return [
    serve<typeof ServerReflection, P>(ServerReflection, { serverReflectionInfo }),
    serve<typeof ServerReflectionAlpha, P>(ServerReflectionAlpha, { serverReflectionInfo }),
  ];
}

type Request = ServerReflectionRequest | ServerReflectionRequestAlpha;

interface Echo {
  readonly host: string;
  readonly messageRequest: Exclude<Request['messageRequest'], { case: 'fileContainingExtension' }>;
}

interface Answer {
  readonly validHost: string;
  readonly originalRequest: Echo;
  readonly messageResponse:
    | { readonly case: 'listServicesResponse'; readonly value: { readonly service: { readonly name: string }[] } }
    | { readonly case: 'fileDescriptorResponse'; readonly value: { readonly fileDescriptorProto: Uint8Array[] } }
    | { readonly case: 'errorResponse'; readonly value: { readonly errorCode: number; readonly errorMessage: string } };
}

async function* answers(files: DescriptorFiles, requests: AsyncIterable<Request>): AsyncGenerator<Answer> {
  const sent = new Set<string>();
  for await (const { host, messageRequest: asked } of requests) {
    const messageRequest = asked.case === 'fileContainingExtension' ? ({ case: undefined } as const) : asked;
    yield { validHost: host, originalRequest: { host, messageRequest }, messageResponse: answer(files, asked, sent) };
  }
}

function answer(
  files: DescriptorFiles,
  asked: Request['messageRequest'],
  sent: Set<string>,
): Answer['messageResponse'] {
  switch (asked.case) {
    case 'listServices':
      return { case: 'listServicesResponse', value: { service: files.services.map((name) => ({ name })) } };
    case 'fileByFilename':
      return found(files.named(asked.value), sent) ?? refused(Code.NotFound, `no file ${quoted(asked.value)}`);
    case 'fileContainingSymbol':
      return found(files.defining(asked.value), sent) ?? refused(Code.NotFound, `no symbol ${quoted(asked.value)}`);
    case 'fileContainingExtension':
    case 'allExtensionNumbersOfType':
      return refused(Code.NotFound, 'the services have no extensions');
    default:
      return refused(Code.InvalidArgument, 'message_request: expected one of its fields, found none');
  }
}

/** The file and its imports, without those already sent on this stream. */
function found(file: DescriptorFile | undefined, sent: Set<string>): Answer['messageResponse'] | undefined {
  if (file === undefined) return undefined;
  sent.delete(file.name);
  const fileDescriptorProto: Uint8Array[] = [];
  const collect = (one: DescriptorFile): void => {
    if (sent.has(one.name)) return;
    sent.add(one.name);
    fileDescriptorProto.push(one.bytes());
    for (const dependency of one.dependencies) collect(dependency);
  };
  collect(file);
  return { case: 'fileDescriptorResponse', value: { fileDescriptorProto } };
}

function refused(errorCode: Code, errorMessage: string): Answer['messageResponse'] {
  return { case: 'errorResponse', value: { errorCode, errorMessage } };
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 200));
}
