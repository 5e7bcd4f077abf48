/** The functions of the C library that a pseudoterminal is made of, through Deno's foreign function interface. */

import { constants } from "node:fs";

const isLinux = process.platform === "linux";

const LIBRARY = isLinux ? "libc.so.6" : "/usr/lib/libSystem.B.dylib";

/** Whoever the host starts must not inherit a descriptor: with the master, it could type into another's shell. */
const O_CLOEXEC = isLinux ? 0o2000000 : 0x1000000;
const FIOCLEX = isLinux ? 0x5451n : 0x20006601n;
const TIOCSWINSZ = 0x5414n;
const POLLIN = 1;

/** Of functions with a variable number of arguments only the fixed ones can be passed on every system. */
const FUNCTIONS = {
  open: { parameters: ["buffer", "i32"], result: "i32" },
  close: { parameters: ["i32"], result: "i32" },
  read: { parameters: ["i32", "buffer", "usize"], result: "isize" },
  write: { parameters: ["i32", "buffer", "usize"], result: "isize" },
  pipe: { parameters: ["buffer"], result: "i32" },
  grantpt: { parameters: ["i32"], result: "i32" },
  unlockpt: { parameters: ["i32"], result: "i32" },
  ptsname_r: { parameters: ["i32", "buffer", "usize"], result: "i32" },
  ioctl: { parameters: ["i32", "usize", "buffer"], result: "i32" },
  poll: { parameters: ["buffer", "usize", "i32"], result: "i32", nonblocking: true },
} as const;

/** So much is read at once. */
const READ_BYTES = 64 * 1024;

/** The parts of a `struct pollfd`. */
const POLLFD = { bytes: 8, fd: 0, events: 4, revents: 6 } as const;

const littleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** Of the calls, only `poll` may take long. What the system refuses is told as the end of what there is. */
export class Libc {
  readonly #library: Deno.DynamicLibrary<typeof FUNCTIONS> = Deno.dlopen(LIBRARY, FUNCTIONS);
  readonly #buffer = new Uint8Array(READ_BYTES);

  /** A new pseudoterminal: its master, and the path of its device, as `/dev/pts/3`. */
  openTerminal(): { readonly master: number; readonly device: string } {
    const { grantpt, unlockpt, ptsname_r } = this.#library.symbols;
    const master = this.openDevice("/dev/ptmx");
    const name = new Uint8Array(128);
    if (grantpt(master) + unlockpt(master) + ptsname_r(master, name, BigInt(name.length)) !== 0) {
      this.close(master);
      throw new Error(`the system refused the terminal device of descriptor ${master}`);
    }
    return { master, device: new TextDecoder().decode(name.subarray(0, name.indexOf(0))) };
  }

  /** Opens a terminal device, which does not become the host's own; reads and writes do not wait. */
  openDevice(path: string): number {
    const { O_RDWR, O_NOCTTY, O_NONBLOCK } = constants;
    const name = new TextEncoder().encode(`${path}\0`);
    const fd = this.#library.symbols.open(name, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (fd === -1) throw new Error(`the system refused to open ${path}`);
    return fd;
  }

  /** Both ends of a new pipe: the one to read from, and the one to write to. */
  openPipe(): [number, number] {
    const ends = new Int32Array(2);
    if (this.#library.symbols.pipe(new Uint8Array(ends.buffer)) !== 0) {
      throw new Error("the system refused a pipe");
    }
    const [from = -1, to = -1] = ends;
    for (const end of [from, to]) this.#library.symbols.ioctl(end, FIOCLEX, null);
    return [from, to];
  }

  close(fd: number): void {
    this.#library.symbols.close(fd);
  }

  /** What there is now, up to so many bytes; null if there is nothing. */
  read(fd: number, most: number = READ_BYTES): Uint8Array | null {
    let length = 0;
    while (length < most) {
      const room = this.#buffer.subarray(length, most);
      const taken = Number(this.#library.symbols.read(fd, room, BigInt(room.length)));
      if (taken <= 0) break;
      length += taken;
    }
    return length === 0 ? null : this.#buffer.slice(0, length);
  }

  /** How many of the bytes are taken now. */
  write(fd: number, bytes: Uint8Array): number {
    // Deno refuses shared memory here, which nobody hands us.
    const own = bytes as Uint8Array<ArrayBuffer>;
    return Math.max(0, Number(this.#library.symbols.write(fd, own, BigInt(own.length))));
  }

  /** Sets the size of a terminal in cells (Linux). */
  setSize(fd: number, cols: number, rows: number): void {
    const size = Uint16Array.of(rows, cols, 0, 0);
    this.#library.symbols.ioctl(fd, TIOCSWINSZ, new Uint8Array(size.buffer));
  }

  /** Those of the descriptors that can be read, or have ended, once there are any. */
  async poll(fds: readonly number[]): Promise<number[]> {
    const table = new DataView(new ArrayBuffer(fds.length * POLLFD.bytes));
    for (const [index, fd] of fds.entries()) {
      table.setInt32(index * POLLFD.bytes + POLLFD.fd, fd, littleEndian);
      table.setInt16(index * POLLFD.bytes + POLLFD.events, POLLIN, littleEndian);
    }
    await this.#library.symbols.poll(new Uint8Array(table.buffer), BigInt(fds.length), -1);
    return fds.filter(
      (_, index) => table.getInt16(index * POLLFD.bytes + POLLFD.revents, littleEndian) !== 0,
    );
  }

  /** To be called last. */
  unload(): void {
    this.#library.close();
  }
}
