/** Calls through an independent gRPC implementation, @grpc/grpc-js, on raw messages. */

import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { type ChannelCredentials, Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';

export function grpcJs(port: number, secure?: ChannelCredentials): Client {
  // A certificate names hosts, and a server name must not be an address.
  const options = { 'grpc.ssl_target_name_override': 'localhost' };
  return new Client(`127.0.0.1:${port}`, secure ?? credentials.createInsecure(), options);
}

export function bearer(token: string): Metadata {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${token}`);
  return metadata;
}

/** A unary call; rejects with the ServiceError. */
export function unary<I extends DescMessage, O extends DescMessage>(
  client: Client,
  path: string,
  [input, request]: [I, MessageShape<I>],
  output: O,
  metadata: Metadata = bearer('token-1'),
  deadlineMs?: number,
): Promise<MessageShape<O>> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      path,
      (message: MessageShape<I>) => Buffer.from(toBinary(input, message)),
      (bytes: Buffer) => fromBinary(output, bytes),
      request,
      metadata,
      deadlineMs === undefined ? {} : { deadline: Date.now() + deadlineMs },
      (error: ServiceError | null, response?: MessageShape<O>) => {
        if (error !== null || response === undefined) reject(error);
        else resolve(response);
      },
    );
  });
}
