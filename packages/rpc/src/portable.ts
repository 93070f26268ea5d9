/** Calling a cloud or a machine from anywhere, also from browsers: nothing here needs Node. */
export { maxMessageDepth } from './core/max-message-depth.ts';
export type { Client, Credentials, Link } from './link/connect.ts';
export { type ConnectChannelOptions, connectChannel } from './link/connect-channel.ts';
export { type ConnectWebOptions, connectWeb } from './link/connect-web.ts';
export { type EncodedCall, encodedCall, passingClient } from './link/transport/encoded-answers.ts';
