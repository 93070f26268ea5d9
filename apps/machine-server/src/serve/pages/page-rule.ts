/**
 * Which web pages an open machine-server obeys (D50). Every page that a browser on this computer shows can reach loopback, either by its
 * address or by a name of its own that resolves there (DNS rebinding). So requests that a browser can have sent must name this machine in
 * `Host`, and come from a page of this computer, of this machine, or one that the settings allow.
 */
import { isIP } from 'node:net';
import type { PageRule, PageVerdict } from '@platform/rpc/server';

/** What this machine answers to, from its configuration and its computer. */
export interface OwnNames {
  /** Names of this computer and this machine, in any case. */
  readonly names: readonly string[];
  /** `network.allowed_hosts`. */
  readonly allowedHosts: readonly string[];
  /** `network.allowed_origins`, such as `https://panel.example`. */
  readonly allowedOrigins: readonly string[];
}

/** @param own is asked at each request, because an edit of the configuration can change it */
export function createPageRule(own: () => OwnNames): PageRule {
  return (headers): PageVerdict => {
    const names = own();
    const host = String(headers[':authority'] ?? headers.host ?? '');
    if (!acceptsHost(names, host))
      return {
        refused: `machine-server: expected an address or a name of this machine as Host, found ${quoted(host)}; names of your own belong in network.allowed_hosts`,
      };
    const { origin } = headers;
    if (origin === undefined || acceptsOrigin(names, origin)) return 'own';
    return {
      refused: `machine-server: expected a page of this computer or of this machine, found the origin ${quoted(origin)}; others belong in network.allowed_origins, or set auth.handlers: with keys every origin may call`,
    };
  };
}

/** @param host with or without a port */
export function acceptsHost({ names, allowedHosts }: OwnNames, host: string): boolean {
  const name = nameIn(host);
  return name !== undefined && (isAddress(name) || name === 'localhost' || isOneOf([...names, ...allowedHosts], name));
}

function acceptsOrigin({ names, allowedOrigins }: OwnNames, origin: string): boolean {
  const url = URL.parse(origin);
  // `null`, the origin of files and sandboxed frames, is no URL.
  if (url === null || url.origin !== origin.toLowerCase()) return false;
  if (allowedOrigins.some((allowed) => URL.parse(allowed)?.origin === url.origin)) return true;
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return false;
  const name = nameIn(url.host) ?? '';
  return name === 'localhost' || isLoopback(name) || isOneOf(names, name);
}

/** In lower case, without the port and the dot of a full name; undefined if it is no host. */
function nameIn(host: string): string | undefined {
  const [, name] = /^(\[[\da-f:.]+\]|[^\s:[\]/@]+?)\.?(?::\d{1,5})?$/i.exec(host) ?? [];
  return name?.toLowerCase();
}

function isAddress(name: string): boolean {
  return isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
}

function isLoopback(name: string): boolean {
  return name === '[::1]' || (isIP(name) === 4 && name.startsWith('127.'));
}

function isOneOf(names: readonly string[], name: string): boolean {
  return names.some((each) => each !== '' && nameIn(each) === name);
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 200));
}
