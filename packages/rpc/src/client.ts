/** Calling a cloud or a machine over gRPC, from Node. */

export { maxMessageDepth } from './core/max-message-depth.ts';
export { maxAnswerElements } from './core/request-limits.ts';
export {
  type Client,
  type Credentials,
  connect,
  connectOver,
  isLoopback,
  type Link,
  type LinkOptions,
  type LinkState,
  type PlainBody,
  type PutOptions,
} from './link/connect.ts';
export { CallCutOff } from './link/connection.ts';
export { type ConnectionFault, connectionFault, isAnswer } from './link/connection-fault.ts';
export { type EncodedCall, encodedCall } from './link/encoded-answers.ts';
export { pinnedAuthority } from './link/pinned-authority.ts';
export { createRpcClient } from './link/rpc-client.ts';
export { maxTunnelCalls } from './listener/limits.ts';
export { byteStreamOver } from './tunnel/byte-stream.ts';
