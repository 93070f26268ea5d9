export interface RootWarningDeps {
  /** Undefined on systems without accounts. */
  readonly uid: number | undefined;
  readonly home: string;
  /** Whether systemd has started this process: in a container or at a terminal, root may be what is meant. */
  readonly isService: boolean;
}

/** What to do so that the service no longer runs as root; undefined if it does not. */
export function rootWarning({ uid, home, isService }: RootWarningDeps): string | undefined {
  if (uid !== 0 || !isService) return undefined;
  const move = `systemctl stop machine-server && chown -R -h machine-server: '${home}' && systemctl start machine-server`;
  return `this machine-server runs as root, and so do its modules and shells. To run it as the account machine-server, make the account and set User=machine-server in its unit (docs/guides/install.md), then: ${move}`;
}
