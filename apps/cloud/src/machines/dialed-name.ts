/** The name of a part as a client dials it. */

/**
 * Go clients dial a name without a port by WebRTC and multicast DNS only; that does not lead through the cloud. They get the name with the
 * port at which they reach the cloud, which others dial by themselves, or need not know.
 */
export function dialedName(fqdn: string, metadata: Headers): string {
  if (metadata.get('user-agent')?.startsWith('grpc-go/') !== true) return fqdn;
  const [, port = '443'] = /:(\d{1,5})$/.exec(metadata.get('host') ?? '') ?? [];
  return `${fqdn}:${port}`;
}
