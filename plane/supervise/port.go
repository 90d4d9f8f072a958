package supervise

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
)

// soReusePort is SO_REUSEPORT, which package syscall does not name on every
// architecture.
const soReusePort = 15

// reservation keeps a TCP port on the loopback interface for a child that
// shares it. Nobody can connect while the child does not listen, and nobody
// else can take the port while the child is restarted.
type reservation struct {
	fd   int
	port int
}

// reserve takes a port, or a free one if port is 0.
func reserve(port int) (*reservation, error) {
	if port != 0 {
		// Sharing works between all processes of a user, so first make sure
		// that nobody shares the port yet.
		probe, err := bind(port, syscall.SO_REUSEADDR)
		if err != nil {
			return nil, portError(port, err)
		}
		_ = syscall.Close(probe.fd)
	}
	r, err := bind(port, soReusePort)
	if err != nil {
		return nil, portError(port, err)
	}
	return r, nil
}

func portError(port int, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("port %d is taken by another process; choose another one with --port", port)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("port %d is only for the superuser; choose one above 1023 with --port", port)
	default:
		return fmt.Errorf("reserving port %d: %w", port, err)
	}
}

func bind(port, option int) (*reservation, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, option, 1); err != nil {
		return nil, errors.Join(err, syscall.Close(fd))
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		_ = syscall.Close(fd)
		return nil, err
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		return nil, errors.Join(err, syscall.Close(fd))
	}
	addr, ok := name.(*syscall.SockaddrInet4)
	if !ok {
		return nil, errors.Join(errors.New("not an IPv4 address"), syscall.Close(fd))
	}
	return &reservation{fd: fd, port: addr.Port}, nil
}

func (r *reservation) release() { _ = syscall.Close(r.fd) }

// listenNear listens on the port of last time if it is still free, else on
// any.
func listenNear(ctx context.Context, port int) (net.Listener, int, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil && port != 0 {
		l, err = lc.Listen(ctx, "tcp", "127.0.0.1:0")
	}
	if err != nil {
		return nil, 0, err
	}
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return nil, 0, errors.Join(errors.New("not a TCP address"), l.Close())
	}
	return l, addr.Port, nil
}
