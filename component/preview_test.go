package component

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/armature-go/armature/feature"
	"github.com/armature-go/armature/object"
	"github.com/armature-go/armature/resource"
)

// hollow says that it manages an object and renders none.
type hollow struct{}

func (hollow) Declaration() resource.Declaration {
	return resource.Declaration{Object: config("a"), Mode: resource.ModeManage, Render: func() (object.Object, error) { return nil, nil }}
}

func TestPreview(t *testing.T) {
	address := resource.NewCell[string]("address")
	use := resource.Using(address, func(c *corev1.ConfigMap, v string) error {
		c.Data = map[string]string{"address": v}
		return nil
	})
	refuse := func(*corev1.ConfigMap) error { return errBoom }
	set := resource.NewCell[string]("host")
	set.Set("db")
	host := resource.Using(set, func(c *corev1.ConfigMap, v string) error { c.Data = map[string]string{"host": v}; return nil })
	for _, tc := range []struct {
		name string
		in   Component
		want string
	}{
		{"managed objects in their order", with("web", resource.Manage(config("b")), resource.Manage(deployment("a")), resource.Manage(config("c"))), "v1/ConfigMap/shop/b apps/v1/Deployment/shop/a v1/ConfigMap/shop/c"},
		{"nothing else", with("web", resource.Observe(secret("a")), resource.Remove(config("a")), resource.Release(config("b"))), ""},
		{"nothing of what is off", with("web", resource.Manage(config("a")).GatedBy(never), resource.Manage(config("b"))), "v1/ConfigMap/shop/b"},
		{"nothing where all is off", change(with("web", resource.Manage(config("a"))), func(c *Component) { c.Gate = never }), ""},
		{"mutations run", with("web", mutate(func(c *corev1.ConfigMap) error { c.Data = map[string]string{"k": "v"}; return nil })), "v1/ConfigMap/shop/a(k=v)"},
		{"guards do not", with("web", resource.Manage(config("a")).Guard(refuse)), "v1/ConfigMap/shop/a"},
		{"nor does suspension", change(with("web", resource.Manage(config("a"))), func(c *Component) { c.Suspend = true }), "v1/ConfigMap/shop/a"},
		{"nor do prerequisites", change(with("web", resource.Manage(config("a"))), func(c *Component) { c.After = []Prerequisite{DependsOn("DbReady")} }), "v1/ConfigMap/shop/a"},
		{"data that a test has set is there", with("web", resource.Manage(config("a")).MutateUsing("m", feature.Gate{}, host)), "v1/ConfigMap/shop/a(host=db)"},

		{"data that is not is asked for", with("web", resource.Manage(config("a")).MutateUsing("m", feature.Gate{}, use)), `error: component "web", resource 1: ConfigMap a: it needs data "address"; set the cell first`},
		{"what could not be built", change(with("web"), func(c *Component) { c.Err = errBoom }), `error: component "web": boom`},
		{"a gate that cannot be read", change(with("web"), func(c *Component) { c.Gate = unread }), `error: component "web": comparing version "latest" with "<2.0.0": this is not a semantic version; write one such as 1.9.0 or v2.0.0-rc.1`},
		{"nor that of a resource", with("web", resource.Manage(config("b")), resource.Manage(config("a")).GatedBy(unread)), `error: component "web", resource 2: comparing version "latest" with "<2.0.0": this is not a semantic version; write one such as 1.9.0 or v2.0.0-rc.1`},
		{"a mutation that fails", with("web", mutate(refuse)), `error: component "web", resource 1: ConfigMap a: mutation "m": boom`},
		{"a mutation without a function", with("web", mutate(nil)), `error: component "web", resource 1: ConfigMap a: mutation "m": it has no function`},
		{"a nil resource", with("web", nil), `error: component "web", resource 1: it is nil`},
		{"a nil object", with("web", resource.Manage((*corev1.ConfigMap)(nil))), `error: component "web", resource 1: reading the kind of an object: the object is nil`},
		{"a resource that renders nothing", with("web", hollow{}), `error: component "web", resource 1: ConfigMap a: rendering it yields nothing`},
		{"an object that becomes another", with("web", mutate(func(c *corev1.ConfigMap) error { c.Name = "b"; return nil })), `error: component "web", resource 1: ConfigMap a: a mutation makes another object of it, shop/b; name the baseline as the object is to be named`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			scheme := newScheme(t)
			objects, err := Preview(scheme, tc.in)
			var got []string
			for _, obj := range objects {
				key, keyErr := object.KeyOf(nil, obj) // the kind is written into the object
				if keyErr != nil {
					t.Fatal(keyErr)
				}
				text := key.String()
				if c, ok := obj.(*corev1.ConfigMap); ok {
					for k, v := range c.Data {
						text += fmt.Sprintf("(%s=%s)", k, v)
					}
				}
				got = append(got, text)
			}
			if err != nil {
				got = []string{"error: " + err.Error()}
			}
			if text := strings.Join(got, " "); text != tc.want {
				t.Errorf("got  %s\nwant %s", text, tc.want)
			}
			if err != nil && objects != nil {
				t.Error("there are objects beside the error")
			}
		})
	}
}

// What is previewed is what is applied.
func TestPreviewIsWhatIsApplied(t *testing.T) {
	c := newCluster(t)
	comp := with("web", mutate(func(c *corev1.ConfigMap) error { c.Data = map[string]string{"k": "v"}; return nil }), resource.Manage(deployment("web")))
	objects, err := Preview(c.scheme, comp)
	if err != nil {
		t.Fatal(err)
	}
	Run(t.Context(), c.env(noon), newShop(), []Component{comp})
	for _, obj := range objects {
		sent, err := object.Tree(c.scheme, c.desired[c.key(obj).Short()])
		if err != nil {
			t.Fatal(err)
		}
		shown, err := object.Tree(c.scheme, obj)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(sent) != fmt.Sprint(shown) {
			t.Errorf("shown was\n%v, and sent was\n%v", shown, sent)
		}
	}
}

func TestPreviewKeepsTheError(t *testing.T) {
	_, err := Preview(newScheme(t), with("web", mutate(func(*corev1.ConfigMap) error { return errBoom })))
	if !errors.Is(err, errBoom) {
		t.Errorf("%v does not say what it came from", err)
	}
}
