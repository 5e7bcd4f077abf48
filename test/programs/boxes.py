# A curses program: boxes, colours, wide characters and a cursor that the arrow keys move.
import curses
import locale

locale.setlocale(locale.LC_ALL, "")


def main(screen):
    curses.start_color()
    curses.init_pair(1, curses.COLOR_RED, curses.COLOR_BLUE)
    curses.curs_set(1)
    y, x = 5, 10
    while True:
        screen.erase()
        screen.box()
        screen.addstr(1, 2, "plain ä€漢字", curses.A_BOLD)
        screen.addstr(2, 2, "coloured", curses.color_pair(1))
        screen.hline(3, 1, curses.ACS_HLINE, 78)
        pad = screen.derwin(6, 20, 8, 30)
        pad.box()
        pad.addstr(1, 1, "window")
        screen.addstr(y, x, "@")
        screen.addstr(22, 2, f"at {y},{x} ")
        screen.refresh()
        key = screen.getch()
        if key == ord("q"):
            return
        y += (key == curses.KEY_DOWN) - (key == curses.KEY_UP)
        x += (key == curses.KEY_RIGHT) - (key == curses.KEY_LEFT)


curses.wrapper(main)
