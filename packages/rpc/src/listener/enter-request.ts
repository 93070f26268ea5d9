/** @param request its canonical path, and `address:port` of the peer @param run handles it; promises may outlive it */
export type EnterRequest = <T>(request: { readonly path: string; readonly peerAddress: string }, run: () => T) => T;
