/** How the programs reach a machine: by which address, and which authority they trust. */

export interface SnippetTarget {
  /** The address at which the program reaches the cloud. */
  readonly cloudUrl: string;
  /** File (PEM) of the authority that issued the cloud's certificate. Undefined: the system trusts it, or the cloud has no TLS. */
  readonly caFile?: string | undefined;
  readonly partId: string;
  /** `<part id>.<machine domain>`; may have a port, which is not used. */
  readonly fqdn: string;
  /** Whether it is the main part of its machine. */
  readonly isMainPart: boolean;
  /** Name of a sensor that the program reads. Undefined: it only lists the resources. */
  readonly sensor?: string | undefined;
  /** The lines that install `@platform/sdk` and run a program with it. */
  readonly sdk: { readonly install: string; readonly run: string };
}

/** An API key that reaches only the machine: clients that dial the cloud's own address name no machine (D39). */
export interface SnippetKey {
  readonly id: string;
  readonly secret: string;
}

export interface Access extends Pick<SnippetTarget, 'caFile' | 'partId' | 'sensor' | 'sdk'> {
  /** Such as https://cloud.example. */
  readonly origin: string;
  readonly isPlaintext: boolean;
  /**
   * The host and port that clients dial. The machine's name; on the computer of the cloud itself, where names of machines do not
   * resolve, `localhost`: there the key says which machine.
   */
  readonly host: string;
  readonly port: number;
  /** The machine's name, where it is dialed and does not resolve without a line in /etc/hosts. */
  readonly hostsLine: string | undefined;
  /** The name of the machine, without a port. */
  readonly name: string;
  /** Whether `host` is `localhost`. */
  readonly isLocal: boolean;
}

const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/;

export function accessOf({ cloudUrl, fqdn, isMainPart, ...others }: SnippetTarget): Access {
  const { origin, protocol, hostname, port } = new URL(cloudUrl);
  const isPlaintext = protocol === 'http:';
  const name = fqdn.replace(/:\d+$/, '');
  const isHere = loopback.test(hostname);
  const isLocal = isHere && isMainPart;
  return {
    ...{ origin, isPlaintext, name, isLocal, ...others },
    host: isLocal ? 'localhost' : name,
    port: Number(port) || (isPlaintext ? 80 : 443),
    hostsLine: isHere && !isLocal ? `127.0.0.1 ${name}` : undefined,
  };
}

/** A string literal of Python, TypeScript and Go. In an HTML page, it can end neither a script nor a comment. */
export function quoted(text: string): string {
  return JSON.stringify(text).replaceAll('<', String.raw`\u003c`).replaceAll('>', String.raw`\u003e`);
}
